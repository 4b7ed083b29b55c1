package com.acme.shop;

import java.io.Serializable;

/** Named as something that every Rust program has. */
public class Result<T> implements Serializable {
    int code;
    T data;
}
