package io.equipoise.interop;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Arguments from commands. */
final class Argument {
    private Argument() {}

    /** A class by its name in Java source. */
    static Class<?> type(String name) throws ClassNotFoundException {
        switch (name) {
            case "int":
                return int.class;
            case "long":
                return long.class;
            case "byte[]":
                return byte[].class;
            default:
                return Class.forName(name);
        }
    }

    /** A value of that type: a sample, a message, bytes by their number, or what JSON can say. */
    static Object typed(String type, JsonElement json) {
        if (type.equals("long") && json.isJsonPrimitive()) {
            return json.getAsLong();
        }
        return plain(json);
    }

    /** The Java value that the JSON means by itself. */
    static Object plain(JsonElement json) {
        if (json.isJsonNull()) {
            return null;
        }
        if (json.isJsonArray()) {
            List<Object> list = new ArrayList<>();
            json.getAsJsonArray().forEach(item -> list.add(plain(item)));
            return list;
        }
        if (json.isJsonPrimitive()) {
            return primitive(json);
        }
        JsonObject object = json.getAsJsonObject();
        if (object.has("sample")) {
            return Samples.of(object.get("sample").getAsString());
        }
        if (object.has("bytes")) {
            return Base64.getDecoder().decode(object.get("bytes").getAsString());
        }
        if (object.has("size")) {
            return new StockService("").blob(object.get("size").getAsInt());
        }
        if (object.has("long")) {
            return object.get("long").getAsLong();
        }
        if (object.has("message")) {
            return TriSide.load().message(object.get("message").getAsString(), object.getAsJsonObject("fields"));
        }
        Map<String, Object> map = new HashMap<>();
        object.entrySet().forEach(entry -> map.put(entry.getKey(), plain(entry.getValue())));
        return map;
    }

    private static Object primitive(JsonElement json) {
        if (json.getAsJsonPrimitive().isBoolean()) {
            return json.getAsBoolean();
        }
        if (json.getAsJsonPrimitive().isString()) {
            return json.getAsString();
        }
        BigDecimal number = json.getAsBigDecimal();
        if (number.scale() > 0) {
            return number.doubleValue();
        }
        long integral = number.longValueExact();
        if (integral == (int) integral) {
            return (int) integral;
        }
        return integral;
    }
}
