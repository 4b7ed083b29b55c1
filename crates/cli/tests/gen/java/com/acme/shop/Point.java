package com.acme.shop;

import java.util.List;

public record Point(int x, int y, List<Point> path) {
    static final Point ZERO = new Point(0, 0, List.of());
}
