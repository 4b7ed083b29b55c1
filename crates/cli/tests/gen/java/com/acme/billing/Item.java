package com.acme.billing;

import java.io.Serializable;

public class Item implements Serializable {
    long cents;
}
