package io.equipoise.interop;

import java.math.BigDecimal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.dubbo.rpc.RpcContext;

/** What {@link Stock} does. */
final class StockService implements Stock {
    private final String name;
    private final AtomicInteger notes = new AtomicInteger();

    StockService(String name) {
        this.name = name;
    }

    @Override
    public String greet(String name, int times) {
        return "hello " + name + " x" + times;
    }

    @Override
    public Order price(Order order) {
        BigDecimal total = BigDecimal.ZERO;
        for (Line line : order.getLines()) {
            total = total.add(line.getPrice().multiply(BigDecimal.valueOf(line.getAmount())));
        }
        order.setTotal(total);
        return order;
    }

    @Override
    public Everything everything(Everything everything) {
        return everything;
    }

    @Override
    public String find(String name) {
        return "by name " + name;
    }

    @Override
    public String find(int number) {
        return "by number " + number;
    }

    @Override
    public String find(String name, int number) {
        return "by name and number " + name + " " + number;
    }

    @Override
    public int reserve(String sku, int amount) throws OutOfStock {
        if (amount > 100) {
            throw new OutOfStock(sku, 100);
        }
        return 100 - amount;
    }

    @Override
    public void fail(String kind, String message) {
        throw Trouble.of(kind, message);
    }

    @Override
    public long sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return millis;
    }

    @Override
    public byte[] blob(int size) {
        byte[] bytes = new byte[size];
        for (int i = 0; i < size; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    @Override
    public byte[] echoBytes(byte[] bytes) {
        return bytes;
    }

    @Override
    public String nothing(String maybe) {
        return maybe;
    }

    @Override
    public void touch() {}

    @Override
    public Map<String, String> attachments(String prefix) {
        Map<String, String> seen = new HashMap<>(Attached.ofRequest());
        RpcContext.getServerContext().setAttachment(prefix + "-reply", "r\u00e9ply of " + name);
        RpcContext.getServerContext().setAttachment(prefix + "-Upper", "Kept");
        return seen;
    }

    @Override
    public CompletableFuture<String> later(String text) {
        return CompletableFuture.supplyAsync(() -> "later " + text);
    }

    @Override
    public void note(String text) {
        notes.incrementAndGet();
    }

    @Override
    public int notes() {
        return notes.get();
    }

    @Override
    public Object echo(Object value) {
        return value;
    }

    @Override
    public List<User> users(List<User> users) {
        return users;
    }

    @Override
    public Map<String, User> index(Map<String, User> users) {
        return new TreeMap<>(users);
    }

    @Override
    public String who() {
        return name;
    }
}
