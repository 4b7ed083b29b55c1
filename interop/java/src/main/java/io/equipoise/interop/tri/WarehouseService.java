package io.equipoise.interop.tri;

import com.google.protobuf.ByteString;
import io.equipoise.interop.Trouble;
import io.equipoise.interop.proto.Bytes;
import io.equipoise.interop.proto.DubboWarehouseTriple;
import io.equipoise.interop.proto.Nap;
import io.equipoise.interop.proto.Noted;
import io.equipoise.interop.proto.Receipt;
import io.equipoise.interop.proto.Reservation;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.dubbo.common.stream.StreamObserver;
import org.apache.dubbo.rpc.RpcContext;

/** The service of the interface description. */
final class WarehouseService extends DubboWarehouseTriple.WarehouseImplBase {
    private static Receipt receipt(String text, long total) {
        return Receipt.newBuilder().setText(text).setTotal(total).build();
    }

    @Override
    public Receipt reserve(Reservation request) {
        return receipt(request.getAmount() + " of " + request.getSku() + " " + request.getTagsList(),
                request.getAmount());
    }

    @Override
    public Receipt fail(io.equipoise.interop.proto.Trouble request) {
        throw Trouble.of(request.getKind(), request.getMessage());
    }

    @Override
    public Receipt sleep(Nap request) {
        try {
            Thread.sleep(request.getMillis());
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        return receipt("slept", request.getMillis());
    }

    @Override
    public Bytes blob(Bytes request) {
        return Bytes.newBuilder().setData(ByteString.copyFrom(request.getData().toByteArray())).build();
    }

    @Override
    public Noted attachments(io.equipoise.interop.proto.Trouble request) {
        Noted.Builder noted = Noted.newBuilder();
        RpcContext.getServerAttachment()
                .getObjectAttachments()
                .forEach((key, value) -> noted.putAttachments(key, String.valueOf(value)));
        RpcContext.getServerResponseContext().setAttachment(request.getKind() + "-reply", request.getMessage());
        return noted.build();
    }

    @Override
    public void count(Reservation request, StreamObserver<Receipt> responses) {
        for (int i = 1; i <= request.getAmount(); i++) {
            responses.onNext(receipt(request.getSku() + " " + i, i));
        }
        if ("fail".equals(request.getSku())) {
            responses.onError(new IllegalStateException("asked to fail"));
        } else {
            responses.onCompleted();
        }
    }

    @Override
    public StreamObserver<Reservation> sum(StreamObserver<Receipt> responses) {
        AtomicLong sum = new AtomicLong();
        return new Each<>(request -> sum.addAndGet(request.getAmount()), responses) {
            @Override
            public void onCompleted() {
                responses.onNext(receipt("sum", sum.get()));
                responses.onCompleted();
            }
        };
    }

    @Override
    public StreamObserver<Reservation> chat(StreamObserver<Receipt> responses) {
        return new Each<>(
                request -> responses.onNext(receipt(request.getSku(), request.getAmount() + 1)), responses);
    }
}
