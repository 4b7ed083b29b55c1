package org.apache.dubbo.common.stream;

/** Stands in for Dubbo's own, so that the sources compile without it. */
public interface StreamObserver<T> {
    void onNext(T data);

    void onError(Throwable throwable);

    void onCompleted();
}
