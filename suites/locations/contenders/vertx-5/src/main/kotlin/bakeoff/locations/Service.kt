package bakeoff.locations

import io.vertx.core.http.HttpServer
import io.vertx.kotlin.coroutines.CoroutineVerticle
import io.vertx.kotlin.coroutines.coAwait
import java.time.Duration

private val STOP_TIMEOUT = Duration.ofSeconds(10)

/** A server on one event loop. Servers on the same port share its connections among them. */
class Service(private val locations: Locations, private val port: Int) : CoroutineVerticle() {
    private lateinit var server: HttpServer

    /** The port in use, which differs from the one asked for if that is 0. */
    val actualPort get() = server.actualPort()

    override suspend fun start() {
        server = vertx.createHttpServer().requestHandler(api(vertx, locations)).listen(port, "0.0.0.0").coAwait()
    }

    /** Takes no more connections and waits for the requests under way. */
    override suspend fun stop() {
        server.shutdown(STOP_TIMEOUT).coAwait()
    }
}
