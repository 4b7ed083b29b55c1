package io.equipoise.interop;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.lang.reflect.InvocationTargetException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ReferenceConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.SslConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;
import org.apache.dubbo.rpc.RpcContext;
import org.apache.dubbo.rpc.service.EchoService;
import org.apache.dubbo.rpc.service.GenericService;

/**
 * A consumer that calls what it is told to.
 *
 * <p>Settings: {@code name}, and {@code tls} with paths of {@code trust} and, for certificates of
 * both sides, {@code chain} and {@code key}.
 *
 * <p>A command has {@code url} (with parameters), {@code interface}, {@code method}, {@code types},
 * {@code args}; perhaps {@code group}, {@code version}, {@code timeout} (ms), {@code retries},
 * {@code loadbalance}, {@code generic}, {@code attachments}.
 */
final class Consumer implements Main.Puppet {
    private final String name;
    private final Map<String, Object> references = new ConcurrentHashMap<>();

    Consumer(JsonObject settings) {
        name = settings.get("name").getAsString();
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig("N/A"));
        if (settings.has("tls")) {
            bootstrap.ssl(tls(settings.getAsJsonObject("tls")));
        }
        bootstrap.start();
    }

    private static SslConfig tls(JsonObject tls) {
        SslConfig ssl = new SslConfig();
        ssl.setClientTrustCertCollectionPath(tls.get("trust").getAsString());
        if (tls.has("chain")) {
            ssl.setClientKeyCertChainPath(tls.get("chain").getAsString());
            ssl.setClientPrivateKeyPath(tls.get("key").getAsString());
        }
        return ssl;
    }

    @Override
    public JsonObject ready() {
        JsonObject ready = new JsonObject();
        ready.addProperty("name", name);
        return ready;
    }

    /**
     * {@code call}, {@code echo} ({@code $echo}), {@code stream}, {@code sample}; {@code greets}, a
     * call of {@link Stock#greet} for each of {@code args}, one after another, after a {@code pause}
     * (ms) each: what Dubbo takes in on a thread of its own is then taken in.
     */
    @Override
    public JsonObject obey(JsonObject command) throws Exception {
        JsonObject answer = new JsonObject();
        String what = command.get("do").getAsString();
        if (what.equals("sample")) {
            answer.add("sample", Describe.value(Samples.of(command.get("name").getAsString())));
            return answer;
        }
        Object proxy = references.computeIfAbsent(key(command), absent -> reference(command));
        long started = System.nanoTime();
        try {
            attach(command);
            switch (what) {
                case "call":
                    answer.add("value", Describe.value(call(proxy, command)));
                    break;
                case "greets":
                    for (JsonElement name : command.getAsJsonArray("args")) {
                        Thread.sleep(number(command, "pause", 0));
                        ((Stock) proxy).greet(name.getAsString(), 1);
                    }
                    break;
                case "echo":
                    Object echoed = ((EchoService) proxy).$echo(argument(command, 0));
                    answer.add("value", Describe.value(echoed));
                    break;
                case "stream":
                    answer = TriSide.load().stream(proxy, command);
                    break;
                default:
                    throw new IllegalArgumentException("no such command");
            }
        } catch (InvocationTargetException | ExecutionException thrown) {
            answer.add("thrown", thrown(thrown.getCause()));
        } catch (RuntimeException thrown) {
            answer.add("thrown", thrown(thrown));
        }
        answer.addProperty("ms", (System.nanoTime() - started) / 1_000_000);
        answer.addProperty("address", RpcContext.getContext().getRemoteAddressString());
        answer.add("attachments", Describe.value(Attached.ofResponse()));
        return answer;
    }

    private static JsonObject thrown(Throwable thrown) {
        JsonObject object = Describe.thrown(thrown, 0);
        try {
            object.add("code", Describe.value(thrown.getClass().getMethod("getCode").invoke(thrown)));
        } catch (ReflectiveOperationException none) {
            // Only Dubbo's own exceptions have codes.
        }
        return object;
    }

    /** What makes a reference another one. */
    private static String key(JsonObject command) {
        StringBuilder key = new StringBuilder();
        for (String part : new String[] {
            "url", "interface", "group", "version", "timeout", "retries", "loadbalance", "generic"
        }) {
            key.append(command.get(part)).append(' ');
        }
        return key.toString();
    }

    private static Object reference(JsonObject command) {
        ReferenceConfig<Object> reference = new ReferenceConfig<>();
        String type = command.get("interface").getAsString();
        reference.setInterface(type);
        reference.setUrl(command.get("url").getAsString());
        reference.setCheck(false);
        reference.setTimeout(number(command, "timeout", 20_000));
        reference.setRetries(number(command, "retries", 0));
        reference.setGroup(text(command, "group"));
        reference.setVersion(text(command, "version"));
        reference.setLoadbalance(text(command, "loadbalance"));
        if (command.has("generic")) {
            reference.setGeneric(command.get("generic").getAsString());
        }
        return reference.get();
    }

    private static String text(JsonObject command, String name) {
        return command.has(name) ? command.get(name).getAsString() : null;
    }

    private static int number(JsonObject command, String name, int otherwise) {
        return command.has(name) ? command.get(name).getAsInt() : otherwise;
    }

    private static void attach(JsonObject command) {
        if (command.has("attachments")) {
            command.getAsJsonObject("attachments")
                    .entrySet()
                    .forEach(entry -> RpcContext.getContext()
                            .setAttachment(entry.getKey(), entry.getValue().getAsString()));
        }
    }

    private static Object call(Object proxy, JsonObject command) throws Exception {
        String method = command.get("method").getAsString();
        if (proxy instanceof GenericService && command.has("generic")) {
            return generic((GenericService) proxy, method, command);
        }
        String[] names = types(command);
        Class<?>[] types = new Class<?>[names.length];
        Object[] arguments = new Object[names.length];
        for (int i = 0; i < names.length; i++) {
            types[i] = Argument.type(names[i]);
            arguments[i] = Argument.typed(names[i], command.getAsJsonArray("args").get(i));
        }
        Class<?> type = Class.forName(command.get("interface").getAsString());
        Object value = type.getMethod(method, types).invoke(proxy, arguments);
        return value instanceof CompletableFuture ? ((CompletableFuture<?>) value).get() : value;
    }

    private static Object generic(GenericService service, String method, JsonObject command) {
        JsonArray args = command.getAsJsonArray("args");
        Object[] arguments = new Object[args.size()];
        for (int i = 0; i < arguments.length; i++) {
            arguments[i] = Argument.plain(args.get(i));
        }
        return service.$invoke(method, command.has("types") ? types(command) : null, arguments);
    }

    private static String[] types(JsonObject command) {
        JsonArray types = command.getAsJsonArray("types");
        String[] names = new String[types == null ? 0 : types.size()];
        for (int i = 0; i < names.length; i++) {
            names[i] = types.get(i).getAsString();
        }
        return names;
    }

    private static Object argument(JsonObject command, int index) {
        JsonElement value = command.getAsJsonArray("args").get(index);
        return Argument.plain(value);
    }
}
