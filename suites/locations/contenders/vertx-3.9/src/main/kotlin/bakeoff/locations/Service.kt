package bakeoff.locations

import io.vertx.core.Handler
import io.vertx.core.http.HttpServer
import io.vertx.ext.web.RoutingContext
import io.vertx.kotlin.core.http.listenAwait
import io.vertx.kotlin.coroutines.CoroutineVerticle
import java.util.concurrent.atomic.AtomicInteger

/** A server on one event loop. Servers on the same port share its connections among them. */
class Service(private val locations: Locations, private val gate: Gate, private val port: Int) : CoroutineVerticle() {
    private lateinit var server: HttpServer

    /** The port in use, which differs from the one asked for if that is 0. */
    val actualPort get() = server.actualPort()

    override suspend fun start() {
        server = vertx.createHttpServer().requestHandler(api(vertx, locations, gate)).listenAwait(port, "0.0.0.0")
    }
}

/** Lets requests in until closed, and knows how many are inside: Vert.x 3 closes connections without waiting. */
class Gate : Handler<RoutingContext> {
    private val inside = AtomicInteger()

    @Volatile
    private var closed = false

    override fun handle(call: RoutingContext) {
        inside.incrementAndGet()
        // Also when the caller goes away before the answer.
        call.response().endHandler { inside.decrementAndGet() }
        if (closed) call.response().putHeader("Connection", "close")
        if (closed) call.fail(SERVICE_UNAVAILABLE) else call.next()
    }

    /** Refuses new requests and waits until those inside have left, [timeoutMs] at most. */
    fun close(timeoutMs: Long) {
        closed = true
        val deadline = System.nanoTime() + timeoutMs * 1_000_000
        while (inside.get() > 0 && System.nanoTime() < deadline) Thread.sleep(POLL_MS)
        // An answer is written after it has left the gate.
        Thread.sleep(FLUSH_MS)
    }

    private companion object {
        const val POLL_MS = 10L
        const val FLUSH_MS = 100L
        const val SERVICE_UNAVAILABLE = 503
    }
}
