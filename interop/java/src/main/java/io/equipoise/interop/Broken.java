package io.equipoise.interop;

/** An unchecked exception of the interface's own package. */
public class Broken extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public Broken() {}

    public Broken(String message, Throwable cause) {
        super(message, cause);
    }
}
