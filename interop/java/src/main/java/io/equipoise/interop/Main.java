package io.equipoise.interop;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * One peer: {@code Main ROLE SETTINGS}, both of them told by the runner. Prints {@code READY} and a
 * document, then an answer a line for every command on stdin, and ends with stdin.
 */
public final class Main {
    private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private Main() {}

    /** Something that does as it is told. */
    interface Puppet {
        /** What follows {@code READY}. */
        JsonObject ready();

        /** Obeys one command; what it throws becomes the answer's {@code error}. */
        JsonObject obey(JsonObject command) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        JsonObject settings = JsonParser.parseString(arguments[1]).getAsJsonObject();
        Puppet puppet = puppet(arguments[0], settings);
        JsonObject ready = puppet.ready();
        ready.add("versions", Versions.all());
        print("READY " + Describe.line(ready));
        serve(puppet);
        // Dubbo's own threads would hold the process; whoever closed stdin has done with it.
        Runtime.getRuntime().halt(0);
    }

    private static Puppet puppet(String role, JsonObject settings) throws Exception {
        switch (role) {
            case "provider":
                return new Provider(settings);
            case "consumer":
                return new Consumer(settings);
            case "vectors":
                return new Vectors();
            default:
                throw new IllegalArgumentException("no role called " + role);
        }
    }

    private static void serve(Puppet puppet) throws IOException {
        ExecutorService workers = Executors.newCachedThreadPool();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            JsonObject command = JsonParser.parseString(line).getAsJsonObject();
            workers.execute(() -> print(Describe.line(answer(puppet, command))));
        }
    }

    private static JsonObject answer(Puppet puppet, JsonObject command) {
        JsonObject answer;
        try {
            answer = puppet.obey(command);
        } catch (Exception | LinkageError failed) {
            failed.printStackTrace();
            answer = new JsonObject();
            answer.addProperty("error", failed.toString());
        }
        answer.add("id", command.get("id"));
        return answer;
    }

    private static synchronized void print(String line) {
        OUT.println(line);
    }
}
