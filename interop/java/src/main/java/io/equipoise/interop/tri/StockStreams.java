package io.equipoise.interop.tri;

import io.equipoise.interop.User;
import org.apache.dubbo.common.stream.StreamObserver;

/** Streams of plain Java types. */
public interface StockStreams {
    /** As many users as the argument's age says; an error after them if its name is "fail". */
    void count(User request, StreamObserver<User> responses);

    /** One user whose age is the sum. */
    StreamObserver<User> sum(StreamObserver<User> responses);

    /** Every user comes back a year older. */
    StreamObserver<User> chat(StreamObserver<User> responses);
}
