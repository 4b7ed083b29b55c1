package io.equipoise.interop;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The interface of plain Java types that both sides provide and consume. */
public interface Stock {
    String greet(String name, int times);

    /** Returns the order with its total put in and everything else as it came. */
    Order price(Order order);

    Everything everything(Everything everything);

    String find(String name);

    String find(int number);

    String find(String name, int number);

    /** What is left of 100. */
    int reserve(String sku, int amount) throws OutOfStock;

    /** Throws what {@link Trouble} knows by that name. */
    void fail(String kind, String message);

    long sleep(long millis);

    byte[] blob(int size);

    byte[] echoBytes(byte[] bytes);

    /** Returns its argument, null too. */
    String nothing(String maybe);

    void touch();

    /** The attachments of the request; sets some for the response. */
    Map<String, String> attachments(String prefix);

    CompletableFuture<String> later(String text);

    /** Counted; the target of one-way calls. */
    void note(String text);

    /** How many notes there have been. */
    int notes();

    Object echo(Object value);

    List<User> users(List<User> users);

    Map<String, User> index(Map<String, User> users);

    /** The name of the process that answers. */
    String who();
}
