package com.acme.shop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

public class Order extends Entity<Long> {
    private String userId;
    /** Hides the one of the superclass. */
    private Note note;
    private int count;
    private Integer discount;
    private boolean paid;
    private byte flags;
    private short zone;
    private char grade;
    private Character mark;
    private float ratio;
    private double total;
    private Boolean gift;
    private Float rating;
    private byte[] photo;
    private int[] sizes;
    private String[] labels;
    private long[][] grid;
    private Item[] samples;
    private List<Item> items;
    private Set<String> tags;
    private Map<String, List<Item>> byShelf;
    private LinkedHashMap<Long, Integer> ranks;
    private List<Set<Long>> groups;
    private List<? extends Item> extras;
    private List<?> anything;
    private List raw;
    private Object payload;
    private Comparable<String> comparable;
    private Level level;
    private Status status;
    private Date created;
    private LocalDate due;
    private LocalTime at;
    private LocalDateTime moment;
    private Instant instant;
    private Duration grace;
    private BigDecimal price;
    private BigInteger serial;
    private UUID token;
    private com.acme.billing.Item billed;
    private Shape shape;
    private Point point;
    private Category category;
    private String type;
    private String self;
    private String URLPath;
    private String _hidden;
    private String über;
    private CharSequence text;
    private static int counter;

    /** An inner class: the reference to the order around it stays at home. */
    public class Line {
        int number;
        Item item;
    }

    /** A nested class. */
    public static class Note {
        String text;
        List<Line> lines;
    }
}
