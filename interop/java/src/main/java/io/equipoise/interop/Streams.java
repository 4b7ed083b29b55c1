package io.equipoise.interop;

import com.google.gson.JsonElement;

/** What streams need of this package. */
public final class Streams {
    private Streams() {}

    /** The value that a command means. */
    public static Object value(JsonElement json) {
        return Argument.plain(json);
    }

    /** Its description. */
    public static JsonElement describe(Object value) {
        return Describe.value(value);
    }
}
