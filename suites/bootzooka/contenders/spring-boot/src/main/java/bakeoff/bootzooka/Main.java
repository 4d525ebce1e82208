package bakeoff.bootzooka;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import java.io.IOException;
import java.util.Properties;
import org.apache.catalina.util.ServerInfo;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.support.GenericApplicationContext;

/** Starts and serves; Spring stops. */
@SpringBootApplication
public class Main {
    public static void main(String[] arguments) throws IOException {
        if (arguments.length == 1 && arguments[0].equals("--version")) {
            System.out.println(receipt());
            return;
        }
        try {
            serve(Config.from(System.getenv()), arguments);
        } catch (Config.Invalid | PoolInitializationException e) {
            System.err.println("cannot start: " + e.getMessage());
            System.exit(1);
        }
    }

    /** Looks for the database first: Spring takes seconds to start, which would be for nothing. */
    private static void serve(Config config, String[] arguments) {
        var pool = new HikariDataSource(settings(config));
        var application = new SpringApplication(Main.class);
        // Spring closes the pool when it stops, after the last request.
        application.addInitializers(context -> ((GenericApplicationContext) context)
                .registerBean(HikariDataSource.class, () -> pool));
        application.run(arguments);
    }

    private static HikariConfig settings(Config config) {
        var settings = new HikariConfig();
        settings.setJdbcUrl(config.url());
        settings.setUsername(config.user());
        settings.setPassword(config.password());
        settings.setMaximumPoolSize(config.connections());
        settings.setConnectionTimeout(config.waitMillis());
        return settings;
    }

    private static String receipt() throws IOException {
        var versions = new Properties();
        try (var file = Main.class.getResourceAsStream("/version.properties")) {
            versions.load(file);
        }
        return versions.get("name") + ": Spring Boot " + SpringBootVersion.getVersion()
                + " on Tomcat " + ServerInfo.getServerNumber()
                + ", HikariCP " + versions.get("pool")
                + ", PostgreSQL driver " + versions.get("driver")
                + ", Java " + System.getProperty("java.version");
    }
}
