package com.acme.shop;

import java.io.Serializable;

public class Item implements Serializable {
    String sku;
    Item bundledWith;
}
