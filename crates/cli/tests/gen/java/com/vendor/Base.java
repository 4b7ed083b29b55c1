package com.vendor;

/** Its class file is removed: a superclass that is in another jar. */
public class Base {
    String vendor;
}
