package com.acme.shop;

public class OutOfStock extends ShopException {
    private Item item;
    private String message;

    public OutOfStock(String message) {
        super(message);
    }
}
