package com.acme.shop;

import java.io.Serializable;
import java.util.List;

public class Page<T> implements Serializable {
    List<T> items;
    T first;
    long total;
    Page<T> next;
}
