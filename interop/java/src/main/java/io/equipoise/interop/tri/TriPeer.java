package io.equipoise.interop.tri;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.protobuf.ByteString;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.equipoise.interop.Streams;
import io.equipoise.interop.TriSide;
import io.equipoise.interop.User;
import io.equipoise.interop.proto.Reservation;
import io.equipoise.interop.proto.Warehouse;
import java.lang.reflect.Method;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.dubbo.common.stream.StreamObserver;

/** The part of a peer that speaks `tri`. */
public final class TriPeer implements TriSide {
    private static final long LIMIT_SECONDS = 20;

    @Override
    public Map<Class<?>, Object> services() {
        Map<Class<?>, Object> services = new LinkedHashMap<>();
        services.put(StockStreams.class, new StreamService());
        services.put(Warehouse.class, new WarehouseService());
        return services;
    }

    @Override
    public Object message(String name, JsonObject fields) {
        try {
            Class<?> type = Class.forName("io.equipoise.interop.proto." + name);
            Message.Builder builder = (Message.Builder) type.getMethod("newBuilder").invoke(null);
            for (Map.Entry<String, JsonElement> entry : fields.entrySet()) {
                set(builder, entry.getKey(), entry.getValue());
            }
            return builder.build();
        } catch (ReflectiveOperationException absent) {
            throw new IllegalArgumentException("no message called " + name, absent);
        }
    }

    private static void set(Message.Builder builder, String name, JsonElement json) {
        FieldDescriptor field = builder.getDescriptorForType().findFieldByName(name);
        if (field.isRepeated()) {
            json.getAsJsonArray().forEach(item -> builder.addRepeatedField(field, scalar(field, item)));
        } else {
            builder.setField(field, scalar(field, json));
        }
    }

    private static Object scalar(FieldDescriptor field, JsonElement json) {
        switch (field.getJavaType()) {
            case INT:
                return json.getAsInt();
            case LONG:
                return json.getAsLong();
            case BYTE_STRING:
                return ByteString.copyFrom(bytes(json));
            default:
                return json.getAsString();
        }
    }

    /** Bytes as base64, or that many. */
    private static byte[] bytes(JsonElement json) {
        if (json.getAsJsonPrimitive().isString()) {
            return Base64.getDecoder().decode(json.getAsString());
        }
        byte[] bytes = new byte[json.getAsInt()];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (i % 251);
        }
        return bytes;
    }

    @Override
    @SuppressWarnings("unchecked")
    public JsonObject stream(Object proxy, JsonObject command) throws Exception {
        Collect answers = new Collect();
        Class<?> type = Class.forName(command.get("interface").getAsString());
        String name = command.get("method").getAsString();
        JsonArray values = command.getAsJsonArray("args");
        if (name.equals("count")) {
            Class<?> message = type == Warehouse.class ? Reservation.class : User.class;
            Method method = type.getMethod(name, message, StreamObserver.class);
            method.invoke(proxy, Streams.value(values.get(0)), answers);
        } else {
            Method method = type.getMethod(name, StreamObserver.class);
            StreamObserver<Object> requests = (StreamObserver<Object>) method.invoke(proxy, answers);
            for (JsonElement value : values) {
                requests.onNext(Streams.value(value));
            }
            requests.onCompleted();
        }
        return answers.await();
    }

    /** All answers and how they ended. */
    private static final class Collect implements StreamObserver<Object> {
        private final JsonArray messages = new JsonArray();
        private final JsonObject answer = new JsonObject();
        private final CountDownLatch ended = new CountDownLatch(1);

        @Override
        public synchronized void onNext(Object message) {
            messages.add(Streams.describe(message));
        }

        @Override
        public synchronized void onError(Throwable error) {
            answer.add("thrown", Streams.describe(error));
            ended.countDown();
        }

        @Override
        public void onCompleted() {
            ended.countDown();
        }

        JsonObject await() throws InterruptedException {
            boolean over = ended.await(LIMIT_SECONDS, TimeUnit.SECONDS);
            synchronized (this) {
                answer.add("values", messages);
                answer.addProperty("ended", over);
                return answer;
            }
        }
    }
}
