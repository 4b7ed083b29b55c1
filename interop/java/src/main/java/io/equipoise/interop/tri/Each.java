package io.equipoise.interop.tri;

import java.util.function.Consumer;
import org.apache.dubbo.common.stream.StreamObserver;

/** Does something with every message; the answers end as the messages do. */
class Each<T> implements StreamObserver<T> {
    private final Consumer<T> each;
    private final StreamObserver<?> answers;

    Each(Consumer<T> each, StreamObserver<?> answers) {
        this.each = each;
        this.answers = answers;
    }

    @Override
    public void onNext(T message) {
        each.accept(message);
    }

    @Override
    public void onError(Throwable error) {
        answers.onError(error);
    }

    @Override
    public void onCompleted() {
        answers.onCompleted();
    }
}
