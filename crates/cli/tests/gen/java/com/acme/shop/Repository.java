package com.acme.shop;

import java.util.List;

/** A generic interface that the others extend. */
public interface Repository<T, K> {
    T get(K id);

    List<T> all();

    T save(T entity) throws ShopException;

    /** Names of parameters are known here, because there is code. */
    default T first(K from, long skip, double share, int take) {
        return get(from);
    }

    default int size() {
        return all().size();
    }
}
