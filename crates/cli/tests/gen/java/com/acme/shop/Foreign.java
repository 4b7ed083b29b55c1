package com.acme.shop;

import com.vendor.Base;

public class Foreign extends Base {
    String own;
}
