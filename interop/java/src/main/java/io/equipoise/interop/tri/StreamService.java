package io.equipoise.interop.tri;

import io.equipoise.interop.Kind;
import io.equipoise.interop.User;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.dubbo.common.stream.StreamObserver;

/** What {@link StockStreams} does. */
final class StreamService implements StockStreams {
    @Override
    public void count(User request, StreamObserver<User> responses) {
        for (int i = 1; i <= request.getAge(); i++) {
            responses.onNext(new User(request.getName() + " " + i, i, Kind.values()[i % 3]));
        }
        if ("fail".equals(request.getName())) {
            responses.onError(new IllegalStateException("asked to fail"));
        } else {
            responses.onCompleted();
        }
    }

    @Override
    public StreamObserver<User> sum(StreamObserver<User> responses) {
        AtomicInteger sum = new AtomicInteger();
        return new Each<>(user -> sum.addAndGet(user.getAge()), responses) {
            @Override
            public void onCompleted() {
                responses.onNext(new User("sum", sum.get(), Kind.BOOK));
                responses.onCompleted();
            }
        };
    }

    @Override
    public StreamObserver<User> chat(StreamObserver<User> responses) {
        return new Each<>(
                user -> responses.onNext(new User(user.getName(), user.getAge() + 1, user.getLikes())), responses);
    }
}
