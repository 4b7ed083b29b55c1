package io.equipoise.interop;

import java.io.Serializable;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZonedDateTime;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * A field for every Java type that crosses the wire. Public fields, as they are only data.
 *
 * <p>{@code Optional} is not here: Dubbo refuses to send what is not {@code Serializable}. Neither is a
 * field of type {@code float}: hessian-lite 4.0.4 writes eight bytes into its four when it reads one,
 * and so over what lies behind it.
 */
public class Everything implements Serializable {
    private static final long serialVersionUID = 1L;

    public boolean flag;
    public byte octet;
    public short small;
    public char letter;
    public int number;
    public long large;
    public double real;
    public Boolean boxedFlag;
    public Byte boxedOctet;
    public Short boxedSmall;
    public Character boxedLetter;
    public Integer boxedNumber;
    public Long boxedLarge;
    public Float boxedSingle;
    public Double boxedReal;
    public String text;
    public String missing;
    public byte[] bytes;
    public int[] numbers;
    public long[] larges;
    public double[] reals;
    public boolean[] flags;
    public char[] letters;
    public String[] texts;
    public Object[] objects;
    public User[] users;
    public int[][] grid;
    public List<String> list;
    public LinkedList<Integer> linked;
    public Set<String> set;
    public Map<String, Integer> map;
    public TreeMap<String, Integer> sorted;
    public LinkedHashMap<Integer, String> ordered;
    public Date date;
    public LocalDate localDate;
    public LocalTime localTime;
    public LocalDateTime localDateTime;
    public OffsetDateTime offsetDateTime;
    public ZonedDateTime zonedDateTime;
    public Instant instant;
    public Duration duration;
    public BigDecimal decimal;
    public BigInteger integer;
    public Kind kind;
    public UUID uuid;
    public Locale locale;
    public User user;
    /** A {@link Customer} in truth, and the same one as all {@link #people}. */
    public User heir;
    public List<User> people;
}
