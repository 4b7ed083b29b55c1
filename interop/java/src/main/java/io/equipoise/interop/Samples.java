package io.equipoise.interop;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** Values that both sides know by name. */
public final class Samples {
    private Samples() {}

    public static Object of(String name) {
        switch (name) {
            case "user":
                return user();
            case "users":
                return new ArrayList<>(List.of(user(), new User("Cy", 5, null)));
            case "index":
                Map<String, User> index = new HashMap<>();
                index.put("ann", user());
                index.put("cy", new User("Cy", 5, null));
                return index;
            case "order":
                return order();
            case "everything":
                return everything();
            default:
                throw new IllegalArgumentException("no sample called " + name);
        }
    }

    static User user() {
        return new User("Ann \u00e9\u4e16\ud83d\ude00", 31, Kind.BOOK);
    }

    static Customer customer() {
        return new Customer("Bob", 47, Kind.TOOL, "1 Long Lane", 1_500_000_000_000L);
    }

    static Order order() {
        Order order = new Order();
        order.setId(9_007_199_254_740_993L);
        order.setCustomer(customer());
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            BigDecimal price = new BigDecimal(i + ".99");
            lines.add(new Line("sku-000" + i, i + 1, price, Kind.values()[i % 3]));
        }
        order.setLines(lines);
        Map<String, String> notes = new HashMap<>();
        notes.put("gift", "wrap it in paper with stars, and no ribbon");
        notes.put("door", "the blue one behind the house");
        order.setNotes(notes);
        order.setPlaced(new Date(1_700_000_000_123L));
        byte[] signature = new byte[256];
        for (int i = 0; i < signature.length; i++) {
            signature[i] = (byte) i;
        }
        order.setSignature(signature);
        order.setPaid(true);
        return order;
    }

    static Everything everything() {
        Everything e = new Everything();
        e.flag = true;
        e.octet = -7;
        e.small = -300;
        e.letter = '\u00e9';
        e.number = 1_000_000;
        e.large = -5_000_000_000L;
        e.real = 0.1;
        e.boxedFlag = false;
        e.boxedOctet = 7;
        e.boxedSmall = 300;
        e.boxedLetter = 'x';
        e.boxedNumber = -1;
        e.boxedLarge = 1L;
        e.boxedSingle = -2.25f;
        e.boxedReal = 1e300;
        e.text = "text with \u00e9, \u4e16\u754c and \ud83d\ude00";
        e.bytes = new byte[] {0, 1, -1, 127, -128};
        e.numbers = new int[] {1, -2, 300_000};
        e.larges = new long[] {1L, -2L, 1L << 40};
        e.reals = new double[] {0.0, 1.0, -2.5};
        e.flags = new boolean[] {true, false};
        e.letters = new char[] {'a', '\u00e9'};
        e.texts = new String[] {"one", null, "three"};
        e.objects = new Object[] {1, "two", 3.5, null};
        e.users = new User[] {user()};
        e.grid = new int[][] {{1, 2}, {}, {3}};
        e.list = new ArrayList<>(List.of("a", "b"));
        e.linked = new LinkedList<>(List.of(1, 2, 3));
        e.set = new HashSet<>(List.of("red", "green"));
        e.map = new HashMap<>(Map.of("one", 1));
        e.sorted = new TreeMap<>(Map.of("a", 1, "b", 2));
        e.ordered = new LinkedHashMap<>();
        e.ordered.put(2, "two");
        e.ordered.put(1, "one");
        e.date = new Date(1_700_000_000_123L);
        e.localDate = LocalDate.of(2024, 2, 29);
        e.localTime = LocalTime.of(23, 59, 58, 123_456_789);
        e.localDateTime = LocalDateTime.of(e.localDate, e.localTime);
        e.offsetDateTime = OffsetDateTime.of(e.localDateTime, ZoneOffset.ofHours(8));
        e.zonedDateTime = ZonedDateTime.of(e.localDateTime, ZoneId.of("Asia/Shanghai"));
        e.instant = Instant.ofEpochSecond(-1, 999_999_999);
        e.duration = Duration.ofSeconds(90, 5);
        e.decimal = new BigDecimal("-12345678901234567890.123456789");
        e.integer = new BigInteger("-123456789012345678901234567890");
        e.kind = Kind.TOOL;
        e.uuid = UUID.fromString("123e4567-e89b-12d3-a456-426614174000");
        e.locale = Locale.forLanguageTag("de-CH");
        e.user = user();
        e.heir = customer();
        e.people = new ArrayList<>(List.of(e.heir, e.heir));
        return e;
    }
}
