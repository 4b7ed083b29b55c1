package com.acme.shop;

import java.util.List;

/** Would need a type more for each step. */
public class Growing<T> {
    T value;
    Growing<List<T>> next;
}
