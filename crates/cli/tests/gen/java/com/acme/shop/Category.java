package com.acme.shop;

import java.io.Serializable;
import java.util.List;
import java.util.Map;

/** Refers to itself in every way. */
public class Category implements Serializable {
    Category parent;
    List<Category> children;
    Map<String, Category> named;
    Shelf shelf;

    public static class Shelf implements Serializable {
        Category category;
    }
}
