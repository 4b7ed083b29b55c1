package io.equipoise.interop;

import com.google.gson.JsonObject;
import java.util.Map;

/** What only releases with `tri` can do; the others are compiled without it. */
public interface TriSide {
    /** Services by interface. */
    Map<Class<?>, Object> services();

    /** A protobuf message by its short name, with fields of its JSON form. */
    Object message(String name, JsonObject fields);

    /** Runs a stream to its end: every message and how it ended. */
    JsonObject stream(Object proxy, JsonObject command) throws Exception;

    /** The implementation. */
    static TriSide load() {
        try {
            return (TriSide) Class.forName("io.equipoise.interop.tri.TriPeer").getConstructor().newInstance();
        } catch (ReflectiveOperationException absent) {
            throw new IllegalStateException("this release has no tri", absent);
        }
    }
}
