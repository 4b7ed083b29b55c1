package io.equipoise.interop;

/** The business exception of {@link Stock}, with fields of its own. */
public class OutOfStock extends Exception {
    private static final long serialVersionUID = 1L;

    private String sku;
    private int left;

    public OutOfStock() {}

    public OutOfStock(String sku, int left) {
        super("only " + left + " of " + sku);
        this.sku = sku;
        this.left = left;
    }

    public String getSku() {
        return sku;
    }

    public void setSku(String sku) {
        this.sku = sku;
    }

    public int getLeft() {
        return left;
    }

    public void setLeft(int left) {
        this.left = left;
    }
}
