import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A training run for archives of classes: starts the service as the arguments say (JVM options, {@code -jar}, jar), in
 * front of a stand-in for Elasticsearch, asks each endpoint and stops it, whereupon the JVM writes what it has learnt.
 */
public final class Train {
    private static final int ROUNDS = 200;
    private static final int START_SECONDS = 60;
    private static final int STOP_SECONDS = 120;

    private static final String NAMES =
        "\"name.cs\": \"a\", \"name.de\": \"b\", \"name.en\": \"c\", \"name.pl\": \"d\", \"name.sk\": \"e\"";
    private static final String REGION = "{\"id\": 2, \"countryIso\": \"CZ\", " + NAMES + "}";
    private static final String CITY = "{\"id\": 1, \"countryIso\": \"CZ\", \"regionId\": 2, "
        + "\"centroid\": {\"lat\": 50.1, \"lon\": 14.6}, \"isFeatured\": false, " + NAMES + "}";

    private static final List<String> PATHS = List.of(
        "/city/v1/get?id=1&language=cs",
        "/city/v1/closest?lat=50.1&lon=14.6&language=pl",
        "/city/v1/closest?language=de",
        "/city/v1/associatedFeatured?id=1&language=en",
        "/city/v1/search?query=a&language=cs&countryIso=CZ",
        "/city/v1/featured?language=sk",
        "/city/v1/get?id=x",
        "/api-docs",
        "/");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process service;
    private final int port;

    private Train(List<String> arguments, int elasticPort) throws IOException {
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        command.addAll(arguments);
        ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
        builder.environment().putAll(Map.of(
            "GOOUT_ELASTIC_HOST", "127.0.0.1",
            "GOOUT_ELASTIC_PORT", String.valueOf(elasticPort),
            "PORT", String.valueOf(port)));
        service = builder.start();
    }

    public static void main(String[] arguments) throws Exception {
        // Else each answer of the stand-in waits 40 ms for an acknowledgement.
        System.setProperty("sun.net.httpserver.nodelay", "true");
        HttpServer elastic = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        elastic.createContext("/", Train::answer);
        elastic.start();
        Train train = new Train(List.of(arguments), elastic.getAddress().getPort());
        try {
            train.awaitReady();
            for (int round = 0; round < ROUNDS; round++) {
                for (String path : PATHS) {
                    train.ask(path);
                }
            }
        } finally {
            train.stop();
            elastic.stop(0);
        }
    }

    /** What Elasticsearch would say, as far as the service reads it. */
    private static void answer(HttpExchange exchange) throws IOException {
        String path = exchange.getRequestURI().getPath();
        String text = "{}";
        if (path.startsWith("/city/_doc/")) {
            text = "{\"_source\": " + CITY + "}";
        } else if (path.startsWith("/region/_doc/")) {
            text = "{\"_source\": " + REGION + "}";
        } else if (path.equals("/city/_search")) {
            text = "{\"hits\": {\"hits\": [{\"_source\": " + CITY + "}]}}";
        }
        exchange.getRequestBody().readAllBytes();
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(200, body.length);
        exchange.getResponseBody().write(body);
        exchange.close();
    }

    private void awaitReady() throws Exception {
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        while (true) {
            try {
                ask("/");
                return;
            } catch (IOException e) {
                if (!service.isAlive() || System.nanoTime() > deadline) {
                    throw new IOException("the service did not start", e);
                }
                Thread.sleep(50);
            }
        }
    }

    private void ask(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build();
        int status = client.send(request, BodyHandlers.ofString()).statusCode();
        if (status >= 500) {
            throw new IOException(path + " was answered with " + status);
        }
    }

    private void stop() throws Exception {
        service.destroy();
        if (!service.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
            service.destroyForcibly();
            throw new IOException("the service did not stop");
        }
    }
}
