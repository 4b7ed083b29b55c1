package io.equipoise.interop;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.dubbo.config.ApplicationConfig;
import org.apache.dubbo.config.ProtocolConfig;
import org.apache.dubbo.config.RegistryConfig;
import org.apache.dubbo.config.ServiceConfig;
import org.apache.dubbo.config.SslConfig;
import org.apache.dubbo.config.bootstrap.DubboBootstrap;

/**
 * A provider of {@link Stock} and, where the release has them, of the services of `tri`.
 *
 * <p>Settings: {@code name}, {@code host}, a port each for {@code dubbo} and {@code tri},
 * {@code parameters} of the protocols, {@code tls} with paths of {@code chain}, {@code key} and,
 * for certificates of both sides, {@code trust}.
 */
final class Provider implements Main.Puppet {
    private static final int KEPT = 10_000;

    private final String name;
    private final List<JsonObject> seen = new ArrayList<>();

    Provider(JsonObject settings) {
        name = settings.get("name").getAsString();
        ApplicationConfig application = new ApplicationConfig(name);
        application.setQosEnable(false);
        DubboBootstrap bootstrap = DubboBootstrap.getInstance();
        bootstrap.application(application).registry(new RegistryConfig("N/A"));
        if (settings.has("tls")) {
            bootstrap.ssl(tls(settings.getAsJsonObject("tls")));
        }
        List<ProtocolConfig> protocols = new ArrayList<>();
        for (String protocol : new String[] {"dubbo", "tri"}) {
            if (settings.has(protocol)) {
                protocols.add(protocol(protocol, settings));
            }
        }
        bootstrap.protocols(protocols);
        bootstrap.service(service(Stock.class, new StockService(name), null, null));
        bootstrap.service(service(Stock.class, new StockService(name + " g1"), "g1", "1.0.0"));
        if (settings.has("tri")) {
            TriSide.load().services().forEach((type, target) -> bootstrap.service(service(type, target, null, null)));
        }
        bootstrap.start();
    }

    private static ProtocolConfig protocol(String name, JsonObject settings) {
        ProtocolConfig protocol = new ProtocolConfig(name, settings.get(name).getAsInt());
        protocol.setHost(settings.get("host").getAsString());
        if (settings.has("tls")) {
            protocol.setSslEnabled(true);
        }
        if (settings.has("parameters")) {
            Map<String, String> parameters = new HashMap<>();
            settings.getAsJsonObject("parameters")
                    .entrySet()
                    .forEach(entry -> parameters.put(entry.getKey(), entry.getValue().getAsString()));
            protocol.setParameters(parameters);
        }
        return protocol;
    }

    private static SslConfig tls(JsonObject tls) {
        SslConfig ssl = new SslConfig();
        ssl.setServerKeyCertChainPath(tls.get("chain").getAsString());
        ssl.setServerPrivateKeyPath(tls.get("key").getAsString());
        if (tls.has("trust")) {
            ssl.setServerTrustCertCollectionPath(tls.get("trust").getAsString());
        }
        return ssl;
    }

    private ServiceConfig<Object> service(Class<?> type, Object target, String group, String version) {
        ServiceConfig<Object> service = new ServiceConfig<>();
        service.setInterface(type);
        service.setRef(type == Stock.class ? recorded((Stock) target, group) : target);
        service.setGroup(group);
        service.setVersion(version);
        return service;
    }

    /** The same, with every call written down. */
    private Stock recorded(Stock target, String group) {
        Class<?>[] types = {Stock.class};
        return (Stock) Proxy.newProxyInstance(Stock.class.getClassLoader(), types, (proxy, method, arguments) -> {
            if (method.getDeclaringClass() == Stock.class) {
                record(method.toString(), group, arguments);
            }
            try {
                return method.invoke(target, arguments);
            } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
            }
        });
    }

    private void record(String method, String group, Object[] arguments) {
        JsonObject call = new JsonObject();
        call.addProperty("method", method);
        call.addProperty("group", group);
        JsonArray values = new JsonArray();
        for (Object argument : arguments == null ? new Object[0] : arguments) {
            values.add(Describe.value(argument));
        }
        call.add("arguments", values);
        call.add("attachments", Describe.value(Attached.ofRequest()));
        synchronized (seen) {
            if (seen.size() < KEPT) {
                seen.add(call);
            }
        }
    }

    @Override
    public JsonObject ready() {
        JsonObject ready = new JsonObject();
        ready.addProperty("name", name);
        return ready;
    }

    /** {@code seen}: the calls since it was last asked. {@code sample}: a sample's description. */
    @Override
    public JsonObject obey(JsonObject command) {
        JsonObject answer = new JsonObject();
        switch (command.get("do").getAsString()) {
            case "seen":
                JsonArray calls = new JsonArray();
                synchronized (seen) {
                    seen.forEach((JsonElement call) -> calls.add(call));
                    seen.clear();
                }
                answer.add("seen", calls);
                return answer;
            case "sample":
                answer.add("sample", Describe.value(Samples.of(command.get("name").getAsString())));
                return answer;
            default:
                throw new IllegalArgumentException("no such command");
        }
    }
}
