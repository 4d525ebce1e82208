package dev.bakeoff.elasticsearch;

import java.io.IOException;
import java.net.BindException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.elasticsearch.Version;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.http.HttpServerTransport;

/**
 * Runs one Elasticsearch node in the foreground until SIGTERM or SIGINT.
 *
 * <p>Standard output gets exactly one line, {@code listening on HOST:PORT}, when requests are
 * answered. Everything else goes to standard error. A data folder that this program made itself
 * is deleted when it stops; one that was there before is left as it is.
 */
public final class Main {
    private static final int EXIT_USAGE = 2;
    private static final int EXIT_FAILED = 1;

    private Main() {}

    public static void main(String[] arguments) throws Exception {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println("elasticsearch " + Version.CURRENT);
            return;
        }
        Options options;
        try {
            options = Options.parse(List.of(arguments));
        } catch (IllegalArgumentException error) {
            System.err.println(error.getMessage());
            System.err.println(Options.USAGE);
            System.exit(EXIT_USAGE);
            return;
        }
        run(options);
    }

    private static void run(Options options) throws Exception {
        boolean ours = !Files.exists(options.data());
        // Lucene's native helpers would be unpacked elsewhere otherwise, and be left behind.
        Files.createDirectories(options.data().resolve("tmp"));
        System.setProperty("java.io.tmpdir", options.data().resolve("tmp").toString());

        LocalNode node = null;
        try {
            node = LocalNode.create(options);
            stopOnSignal(node, options.data(), ours);
            node.start();
        } catch (Exception error) {
            System.err.println(sentence(error, options));
            if (node == null) {
                cleanUp(options.data(), ours);
            }
            System.exit(EXIT_FAILED);
        }
        TransportAddress address =
                node.injector()
                        .getInstance(HttpServerTransport.class)
                        .boundAddress()
                        .publishAddress();
        System.out.println("listening on " + options.host() + ":" + address.getPort());
        new CountDownLatch(1).await();
    }

    private static void stopOnSignal(LocalNode node, Path data, boolean ours) {
        Thread stop =
                new Thread(
                        () -> {
                            try {
                                node.close();
                                node.awaitClose(10, TimeUnit.SECONDS);
                            } catch (IOException | InterruptedException error) {
                                System.err.println("stopping: " + error);
                            }
                            cleanUp(data, ours);
                        },
                        "stop");
        Runtime.getRuntime().addShutdownHook(stop);
    }

    private static void cleanUp(Path data, boolean ours) {
        if (!ours) {
            return;
        }
        try (Stream<Path> paths = Files.walk(data)) {
            for (Path path : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(path);
            }
        } catch (IOException error) {
            System.err.println("cannot delete " + data + ": " + error);
        }
    }

    private static String sentence(Throwable error, Options options) {
        for (Throwable cause = error; cause != null; cause = cause.getCause()) {
            boolean taken =
                    cause instanceof BindException
                            || cause.getClass().getSimpleName().equals("BindHttpException");
            if (taken) {
                return "cannot listen on "
                        + options.host()
                        + ":"
                        + options.port()
                        + ": "
                        + cause.getMessage();
            }
        }
        return "the node does not start: " + error;
    }
}
