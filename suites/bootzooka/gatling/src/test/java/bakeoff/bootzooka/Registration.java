package bakeoff.bootzooka;

import static io.gatling.javaapi.core.CoreDsl.StringBody;
import static io.gatling.javaapi.core.CoreDsl.atOnceUsers;
import static io.gatling.javaapi.core.CoreDsl.constantUsersPerSec;
import static io.gatling.javaapi.core.CoreDsl.exec;
import static io.gatling.javaapi.core.CoreDsl.rampUsers;
import static io.gatling.javaapi.core.CoreDsl.scenario;
import static io.gatling.javaapi.core.CoreDsl.substring;
import static io.gatling.javaapi.http.HttpDsl.http;
import static io.gatling.javaapi.http.HttpDsl.status;

import io.gatling.javaapi.core.ChainBuilder;
import io.gatling.javaapi.core.ScenarioBuilder;
import io.gatling.javaapi.core.Simulation;
import io.gatling.javaapi.http.HttpRequestActionBuilder;
import java.time.Duration;
import java.util.Iterator;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/** The benchmark `registration` of the suite, by Gatling: so many users, a page and a registration each. */
public class Registration extends Simulation {
    private static final Duration PAUSE_MAX = Duration.ofMillis(500);
    /** Gatling's own code is not compiled yet when it begins: requests that it does not report. */
    private static final int WARM_UP_USERS_PER_S = 40;

    private static final Duration WARM_UP = Duration.ofSeconds(30);

    {
        var protocol = http.baseUrl(System.getProperty("url")).disableCaching();
        var users = Integer.getInteger("users");
        var arrive = Integer.getInteger("arrive");
        var arrivals = arrive == 0 ? atOnceUsers(users) : rampUsers(users).during(Duration.ofSeconds(arrive));
        var warm = users("warm-up", "w", HttpRequestActionBuilder::silent);
        var measured = users("users", "m", UnaryOperator.identity());
        setUp(warm.injectOpen(constantUsersPerSec(WARM_UP_USERS_PER_S).during(WARM_UP))
                        .andThen(measured.injectOpen(arrivals)))
                .protocols(protocol);
    }

    private static ScenarioBuilder users(
            String name, String kind, UnaryOperator<HttpRequestActionBuilder> reported) {
        var home = http("home").get("/").check(status().is(200));
        var register = http("register")
                .post("/api/users/register")
                .header("content-type", "application/json")
                .body(StringBody("{\"login\": \"user#{id}\", \"email\": \"user#{id}@example.org\","
                        + " \"password\": \"secret#{id}\"}"))
                .check(status().is(200))
                .check(substring("success").exists());
        ChainBuilder requests = exec(reported.apply(home))
                .pause(Duration.ZERO, PAUSE_MAX)
                .exec(reported.apply(register))
                .pause(Duration.ZERO, PAUSE_MAX);
        return scenario(name).feed(ids(kind)).exec(requests);
    }

    /** Different for every user of every run. */
    private static Iterator<Map<String, Object>> ids(String kind) {
        var run = System.getProperty("run");
        return IntStream.iterate(0, number -> number + 1)
                .mapToObj(number -> Map.<String, Object>of("id", run + kind + number))
                .iterator();
    }
}
