package com.acme.shop;

public class ShopException extends Exception {
    private int code;
    private Level level;

    public ShopException(String message) {
        super(message);
    }
}
