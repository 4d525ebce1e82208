package dev.bakeoff.elasticsearch;

import java.nio.file.Path;
import java.util.Iterator;
import java.util.List;

/** What the command line asked for. */
record Options(String host, int port, Path data) {
    static final String USAGE =
            "usage: elasticsearch-backend [--host ADDRESS] [--port PORT] --data FOLDER | --version";

    /** Reads the command line; throws {@link IllegalArgumentException} with a sentence. */
    static Options parse(List<String> arguments) {
        String host = "127.0.0.1";
        int port = 9200;
        Path data = null;
        Iterator<String> rest = arguments.iterator();
        while (rest.hasNext()) {
            String name = rest.next();
            if (!rest.hasNext()) {
                throw new IllegalArgumentException("no value for " + name);
            }
            String value = rest.next();
            switch (name) {
                case "--host" -> host = value;
                case "--port" -> port = port(value);
                case "--data" -> data = Path.of(value).toAbsolutePath();
                default -> throw new IllegalArgumentException("unknown option " + name);
            }
        }
        if (data == null) {
            throw new IllegalArgumentException("--data is missing");
        }
        return new Options(host, port, data);
    }

    private static int port(String value) {
        try {
            int port = Integer.parseInt(value);
            if (port >= 0 && port <= 65535) {
                return port;
            }
        } catch (NumberFormatException error) {
            // Said below, together with numbers out of range.
        }
        throw new IllegalArgumentException("not a port: " + value);
    }
}
