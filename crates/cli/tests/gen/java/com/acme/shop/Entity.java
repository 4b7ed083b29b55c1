package com.acme.shop;

import java.io.Serializable;

public abstract class Entity<K> implements Serializable {
    private static final long serialVersionUID = 1L;
    protected K id;
    protected String note;
    protected transient int cached;
}
