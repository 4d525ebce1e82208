package reasons;

import com.fasterxml.jackson.annotation.JsonIgnoreProperties;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.FileInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.Executors;

/**
 * A service that fetches an order, prices it and answers with an invoice. With {@code EXTRA} it
 * does one thing more for each request.
 */
public final class Main {
    private static final int THREADS = 16;
    private static final int GARBAGE_BYTES = 10_000;
    private static final long TAX_PERCENT = 19;

    private static final int ROUNDS = Integer.parseInt(System.getenv("ROUNDS"));
    private static final String EXTRA = System.getenv("EXTRA");
    private static final int LOG_LINES = 10;
    private static final HttpRequest ORDER = HttpRequest.newBuilder(
            URI.create("http://" + System.getenv("BACKEND") + "/orders/4711")).build();

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /** The last thing that was thrown away, kept so that the compiler does not leave it out. */
    private static volatile Object garbage;

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Order(long id, Customer customer, List<Item> items) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Customer(String name, String country, long discountPercent) {}

    @JsonIgnoreProperties(ignoreUnknown = true)
    record Item(String sku, String name, long quantity, long unitCents, long weightGrams) {}

    record Invoice(long order, String customer, String country, List<Line> lines,
            long totalCents, long forecast) {
        static Invoice of(Order order) {
            List<Line> lines = order.items().stream().map(Line::of).toList();
            long cents = lines.stream().mapToLong(Line::cents).sum();
            Customer customer = order.customer();
            return new Invoice(order.id(), customer.name(), customer.country(), lines,
                    cents * (100 - customer.discountPercent()) / 100, price(order.items()));
        }
    }

    record Line(String sku, String name, long quantity, long unitCents, long cents, long taxCents,
            long unitGrams, long grams) {
        static Line of(Item item) {
            long cents = item.quantity() * item.unitCents();
            return new Line(item.sku(), item.name(), item.quantity(), item.unitCents(), cents,
                    cents * TAX_PERCENT / (100 + TAX_PERCENT), item.weightGrams(),
                    item.quantity() * item.weightGrams());
        }
    }

    public static void main(String[] arguments) throws IOException {
        int port = Integer.parseInt(System.getenv("PORT"));
        HttpServer server = HttpServer.create(new InetSocketAddress(port), 1024);
        server.setExecutor(Executors.newFixedThreadPool(THREADS));
        server.createContext("/work", Main::work);
        server.start();
    }

    private static void work(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (EXTRA.equals("backend")) {
                garbage = order();
            }
            Invoice invoice = Invoice.of(order());
            more(invoice);
            byte[] body = JSON.writeValueAsBytes(invoice);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private static Order order() throws IOException, InterruptedException {
        byte[] body = CLIENT.send(ORDER, BodyHandlers.ofByteArray()).body();
        return JSON.readValue(body, Order.class);
    }

    /** One thing more. */
    private static void more(Invoice invoice) throws IOException {
        switch (EXTRA) {
            case "log" -> {
                for (int line = 0; line < LOG_LINES; line++) {
                    System.out.println("GET /work 200");
                }
            }
            case "calls" -> {
                try (var load = new FileInputStream("/proc/loadavg")) {
                    load.read(new byte[64]);
                }
            }
            case "garbage" -> garbage = new byte[GARBAGE_BYTES];
            case "json" -> garbage = JSON.writeValueAsBytes(invoice);
            default -> { }
        }
    }

    /** Each round needs the result of the one before, so none can be left out. */
    private static long price(List<Item> items) {
        long price = 0;
        for (int round = 0; round < ROUNDS; round++) {
            Item item = items.get(round % items.size());
            price = (price * 31 + item.quantity() * item.unitCents()) % 1_000_003;
        }
        return price;
    }
}
