package com.acme.shop;

public enum Status {
    OPEN("o"),
    A1_B,
    SELF;

    private final String code;

    Status() {
        this("?");
    }

    Status(String code) {
        this.code = code;
    }
}
