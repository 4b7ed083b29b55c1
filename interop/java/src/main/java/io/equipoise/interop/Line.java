package io.equipoise.interop;

import java.io.Serializable;
import java.math.BigDecimal;

/** One line of an order. */
public class Line implements Serializable {
    private static final long serialVersionUID = 1L;

    private String sku;
    private int amount;
    private BigDecimal price;
    private Kind kind;

    public Line() {}

    public Line(String sku, int amount, BigDecimal price, Kind kind) {
        this.sku = sku;
        this.amount = amount;
        this.price = price;
        this.kind = kind;
    }

    public String getSku() {
        return sku;
    }

    public void setSku(String sku) {
        this.sku = sku;
    }

    public int getAmount() {
        return amount;
    }

    public void setAmount(int amount) {
        this.amount = amount;
    }

    public BigDecimal getPrice() {
        return price;
    }

    public void setPrice(BigDecimal price) {
        this.price = price;
    }

    public Kind getKind() {
        return kind;
    }

    public void setKind(Kind kind) {
        this.kind = kind;
    }
}
