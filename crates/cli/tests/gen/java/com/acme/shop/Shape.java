package com.acme.shop;

/** Abstract: which class comes is known at run time only. */
public interface Shape {
    double area();
}
