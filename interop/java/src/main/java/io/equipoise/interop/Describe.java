package io.equipoise.interop;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import com.google.gson.JsonPrimitive;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.Comparator;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.CRC32;

/**
 * Java values as JSON that says what they are: {@code int}, {@code String}, {@code boolean} and
 * lists as they are, all else as an object with the type's name.
 */
final class Describe {
    private static final Gson GSON =
            new GsonBuilder().serializeNulls().disableHtmlEscaping().serializeSpecialFloatingPointValues().create();
    /** Longer binaries are told by length and checksum. */
    private static final int SHOWN = 4_096;
    private static final int DEPTH = 24;

    private Describe() {}

    static String text(Object value) {
        return GSON.toJson(value(value));
    }

    static String line(JsonElement element) {
        return GSON.toJson(element);
    }

    static JsonElement value(Object value) {
        return value(value, 0);
    }

    private static JsonElement value(Object value, int depth) {
        if (value == null) {
            return JsonNull.INSTANCE;
        }
        if (depth > DEPTH) {
            return new JsonPrimitive("...");
        }
        if (value instanceof String) {
            return new JsonPrimitive((String) value);
        }
        if (value instanceof Boolean) {
            return new JsonPrimitive((Boolean) value);
        }
        if (value instanceof Integer) {
            return new JsonPrimitive((Integer) value);
        }
        if (value instanceof Character || value instanceof Number && value.getClass().getName().startsWith("java.lang")) {
            return one(value.getClass().getSimpleName().toLowerCase(), new JsonPrimitive(value.toString()));
        }
        if (value instanceof byte[]) {
            return bytes((byte[]) value);
        }
        if (value instanceof Date) {
            return one(value.getClass().getName(), new JsonPrimitive(((Date) value).getTime()));
        }
        if (value instanceof Enum) {
            return one(value.getClass().getName(), new JsonPrimitive(((Enum<?>) value).name()));
        }
        if (value instanceof Optional) {
            return one("optional", value(((Optional<?>) value).orElse(null), depth + 1));
        }
        if (value instanceof Throwable) {
            return thrown((Throwable) value, depth);
        }
        if (value.getClass().isArray()) {
            return array(value, depth);
        }
        if (value instanceof Map) {
            return map((Map<?, ?>) value, depth);
        }
        if (value instanceof Set) {
            return one("set", sorted((Set<?>) value, depth));
        }
        if (value instanceof Collection) {
            JsonArray items = new JsonArray();
            ((Collection<?>) value).forEach(item -> items.add(value(item, depth + 1)));
            return items;
        }
        if (value.getClass().getName().startsWith("java")) {
            return one(value.getClass().getName(), new JsonPrimitive(value.toString()));
        }
        if (value.getClass().getPackage().getName().equals("io.equipoise.interop.proto")) {
            return one("proto", new JsonPrimitive(value.toString()));
        }
        JsonObject object = new JsonObject();
        object.addProperty("class", value.getClass().getName());
        object.add("fields", fields(value, value.getClass(), Object.class, depth));
        return object;
    }

    private static JsonObject one(String name, JsonElement value) {
        JsonObject object = new JsonObject();
        object.add(name, value);
        return object;
    }

    private static JsonElement bytes(byte[] bytes) {
        if (bytes.length <= SHOWN) {
            return one("bytes", new JsonPrimitive(Base64.getEncoder().encodeToString(bytes)));
        }
        CRC32 sum = new CRC32();
        sum.update(bytes);
        JsonObject object = one("length", new JsonPrimitive(bytes.length));
        object.addProperty("crc32", sum.getValue());
        return object;
    }

    private static JsonElement array(Object array, int depth) {
        JsonArray items = new JsonArray();
        for (int i = 0; i < Array.getLength(array); i++) {
            items.add(value(Array.get(array, i), depth + 1));
        }
        return one(array.getClass().getTypeName(), items);
    }

    private static JsonElement map(Map<?, ?> map, int depth) {
        List<JsonArray> entries = new ArrayList<>();
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            JsonArray pair = new JsonArray();
            pair.add(value(entry.getKey(), depth + 1));
            pair.add(value(entry.getValue(), depth + 1));
            entries.add(pair);
        }
        entries.sort(Comparator.comparing(JsonArray::toString));
        JsonArray items = new JsonArray();
        entries.forEach(items::add);
        return one("map", items);
    }

    private static JsonArray sorted(Set<?> set, int depth) {
        List<JsonElement> items = new ArrayList<>();
        set.forEach(item -> items.add(value(item, depth + 1)));
        items.sort(Comparator.comparing(JsonElement::toString));
        JsonArray sorted = new JsonArray();
        items.forEach(sorted::add);
        return sorted;
    }

    static JsonObject thrown(Throwable thrown, int depth) {
        JsonObject object = new JsonObject();
        object.addProperty("thrown", thrown.getClass().getName());
        object.addProperty("message", thrown.getMessage());
        object.add("fields", fields(thrown, thrown.getClass(), Throwable.class, depth));
        Throwable cause = thrown.getCause();
        object.add("cause", cause == null || depth > 4 ? JsonNull.INSTANCE : thrown(cause, depth + 1));
        object.addProperty("frames", thrown.getStackTrace().length);
        return object;
    }

    /** The fields of a class and its superclasses below {@code end}, of our own classes only. */
    private static JsonObject fields(Object value, Class<?> from, Class<?> end, int depth) {
        TreeMap<String, JsonElement> fields = new TreeMap<>();
        for (Class<?> type = from; type != null && type != end; type = type.getSuperclass()) {
            if (!type.getName().startsWith("io.equipoise")) {
                // GenericException keeps what it says in two fields; all others have getMessage.
                if (!type.getSimpleName().equals("GenericException")) {
                    continue;
                }
            }
            for (Field field : type.getDeclaredFields()) {
                if (Modifier.isStatic(field.getModifiers())) {
                    continue;
                }
                try {
                    field.setAccessible(true);
                    fields.put(field.getName(), value(field.get(value), depth + 1));
                } catch (ReflectiveOperationException hidden) {
                    fields.put(field.getName(), new JsonPrimitive("cannot be read: " + hidden));
                }
            }
        }
        JsonObject object = new JsonObject();
        fields.forEach(object::add);
        return object;
    }
}
