package io.equipoise.interop;

/** Exceptions by name. */
public final class Trouble {
    private Trouble() {}

    public static RuntimeException of(String kind, String message) {
        switch (kind) {
            case "jdk":
                return new IllegalStateException(message);
            case "own":
                return new Broken(message, new IllegalArgumentException("the cause of it"));
            case "foreign":
                // Of neither the JDK nor the interface's own library.
                return new com.google.gson.JsonParseException(message);
            default:
                throw new IllegalArgumentException("no trouble called " + kind);
        }
    }
}
