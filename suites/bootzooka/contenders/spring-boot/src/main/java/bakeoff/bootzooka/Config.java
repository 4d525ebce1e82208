package bakeoff.bootzooka;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Map;

/**
 * The environment, read once at the start.
 *
 * @param url         the database as JDBC writes it
 * @param connections the most connections that are open at once
 * @param waitMillis  how long a request waits for a connection
 */
record Config(String url, String user, String password, int connections, int waitMillis) {

    /** What is wrong with the environment. */
    static class Invalid extends Exception {
        Invalid(String message) {
            super(message);
        }
    }

    static Config from(Map<String, String> environment) throws Invalid {
        var url = environment.get("DATABASE_URL");
        if (url == null) {
            throw new Invalid("DATABASE_URL is not set");
        }
        var database = database(url);
        var user = database.getUserInfo().split(":", 2);
        return new Config(
                "jdbc:postgresql://" + database.getHost() + ":" + database.getPort() + database.getPath(),
                user[0],
                user[1],
                number(environment, "POOL_SIZE", 16),
                number(environment, "POOL_WAIT_MS", 30_000));
    }

    private static URI database(String url) throws Invalid {
        try {
            var uri = new URI(url);
            if ("postgres".equals(uri.getScheme()) && uri.getHost() != null && uri.getPort() != -1
                    && uri.getUserInfo() != null && uri.getUserInfo().contains(":") && uri.getPath().length() > 1) {
                return uri;
            }
        } catch (URISyntaxException e) {
            // The same mistake as a part that is missing.
        }
        throw new Invalid("DATABASE_URL is not postgres://user:password@host:port/database");
    }

    private static int number(Map<String, String> environment, String name, int otherwise) throws Invalid {
        var text = environment.get(name);
        try {
            return text == null ? otherwise : Integer.parseInt(text);
        } catch (NumberFormatException e) {
            throw new Invalid(name + " is not a number: " + text);
        }
    }
}
