package com.acme.shop;

import java.io.IOException;
import java.util.Collection;
import java.util.Date;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.dubbo.common.stream.StreamObserver;

public interface Stock extends Repository<Order, Long>, AutoCloseable {
    int MAX_COUNT = 100;
    String GROUP = "blue \"one\"";
    long BIG = 1L << 40;
    double RATE = 0.5;
    boolean STRICT = true;
    char MARK = 'x';
    Level DEFAULT_LEVEL = Level.LOW;

    void ping();

    long count(long since);

    Order reserve(Order order, int count) throws OutOfStock;

    Order reserve(String sku) throws OutOfStock, IOException;

    void reserve();

    /** Narrower than the inherited one: a bridge method stands beside it. */
    @Override
    Order get(Long id);

    boolean URLExists(String URL);

    String type(String self, List<String> list, int match);

    Collection<Item> find(Set<String> tags, int[] sizes, Map<String, Item> like, byte[] photo);

    Set<String> tags(Level level, Date since);

    Page<Order> page(int number);

    Page<Map<String, Item>> pages(Page<Item> like);

    Result<Page<Item>> result();

    Result raw();

    <T extends Item> T generic(T item, List<T> more);

    <T> T open(T anything);

    CompletableFuture<Order> reserveLater(Order order);

    CompletableFuture<Void> pingLater();

    CompletableFuture<List<Level>> levels();

    Optional<Item> maybe(Optional<String> sku);

    com.acme.billing.Item bill(Item item);

    String[] names(Item[] items, String[][] table, byte[][] chunks);

    Object any(Object value, Shape shape, Locale locale);

    void everything() throws Exception;

    Foreign foreign(com.vendor.Gone gone, ItemList list) throws com.vendor.GoneException;

    Growing<Integer> growing(Growing<Item>[] all);

    char[] letters(char[] letters, char[][] lines, boolean arguments, boolean context);

    void builder();

    void __();

    Integer boxed(Integer a, Long b, Boolean c, Character d);

    void watch(String sku, StreamObserver<Item> observer);

    StreamObserver<Item> upload(StreamObserver<Integer> answers);

    void aMethodWithSoManyParametersThatItDoesNotFit(
            String theFirstParameter, String theSecondParameter, Set<String> theThird, int fourth);

    default String described(String name, int times) {
        String local = name.repeat(times);
        return local;
    }

    static Stock of() {
        return null;
    }
}
