package io.equipoise.interop;

/** A plain object with a superclass. */
public class Customer extends User {
    private static final long serialVersionUID = 1L;

    private String address;
    private long since;

    public Customer() {}

    public Customer(String name, int age, Kind likes, String address, long since) {
        super(name, age, likes);
        this.address = address;
        this.since = since;
    }

    public String getAddress() {
        return address;
    }

    public void setAddress(String address) {
        this.address = address;
    }

    public long getSince() {
        return since;
    }

    public void setSince(long since) {
        this.since = since;
    }
}
