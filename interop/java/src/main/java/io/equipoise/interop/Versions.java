package io.equipoise.interop;

import com.google.gson.JsonObject;
import java.io.File;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What is on the class path. */
final class Versions {
    private static final Pattern JAR = Pattern.compile(
            "(dubbo|hessian-lite|fastjson2|protobuf-java|netty-all)-([0-9][^/]*)\\.jar");

    private Versions() {}

    static JsonObject all() {
        JsonObject versions = new JsonObject();
        versions.addProperty("java", System.getProperty("java.version"));
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            Matcher jar = JAR.matcher(new File(entry).getName());
            if (jar.matches()) {
                versions.addProperty(jar.group(1), jar.group(2));
            }
        }
        return versions;
    }
}
