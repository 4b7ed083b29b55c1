package com.acme.shop;

public enum Level {
    LOW,
    VERY_HIGH {
        @Override
        int rank() {
            return 9;
        }
    },
    mixedCase;

    static final int KNOWN = 3;

    int rank() {
        return ordinal();
    }
}
