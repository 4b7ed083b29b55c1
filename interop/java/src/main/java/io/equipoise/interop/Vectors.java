package io.equipoise.interop;

import com.alibaba.com.caucho.hessian.io.Hessian2Input;
import com.alibaba.com.caucho.hessian.io.Hessian2Output;
import com.alibaba.com.caucho.hessian.io.SerializerFactory;
import com.google.gson.JsonObject;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.HexFormat;

/** Reads and writes single values with the Hessian of this release of Dubbo. */
final class Vectors implements Main.Puppet {
    private final SerializerFactory factory = new SerializerFactory();

    @Override
    public JsonObject ready() {
        return new JsonObject();
    }

    /**
     * {@code hessian}: reads the value of {@code hex} and writes it again. The answer has
     * {@code class} and {@code again} or {@code unencoded}, or it has {@code undecoded}.
     */
    @Override
    public JsonObject obey(JsonObject command) {
        byte[] bytes = HexFormat.of().parseHex(command.get("hex").getAsString());
        JsonObject answer = new JsonObject();
        Object value;
        ByteArrayInputStream source = new ByteArrayInputStream(bytes);
        try {
            Hessian2Input input = new Hessian2Input(source);
            input.setSerializerFactory(factory);
            value = input.readObject();
        } catch (IOException | RuntimeException | StackOverflowError | OutOfMemoryError failed) {
            answer.addProperty("undecoded", failed.toString());
            return answer;
        }
        answer.addProperty("class", value == null ? null : value.getClass().getName());
        try {
            answer.addProperty("again", HexFormat.of().formatHex(encoded(value)));
        } catch (IOException | RuntimeException | StackOverflowError failed) {
            answer.addProperty("unencoded", failed.toString());
        }
        return answer;
    }

    private byte[] encoded(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Hessian2Output output = new Hessian2Output(bytes);
        output.setSerializerFactory(factory);
        output.writeObject(value);
        output.flush();
        return bytes.toByteArray();
    }
}
