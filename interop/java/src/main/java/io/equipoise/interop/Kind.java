package io.equipoise.interop;

/** An enum in objects. */
public enum Kind {
    FOOD,
    TOOL,
    BOOK
}
