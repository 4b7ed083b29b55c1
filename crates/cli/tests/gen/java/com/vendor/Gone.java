package com.vendor;

/** Its class file is removed. */
public class Gone {
}
