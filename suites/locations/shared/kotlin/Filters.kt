package bakeoff.locations

import org.http4k.core.Filter
import org.http4k.filter.ResponseFilters
import org.slf4j.LoggerFactory
import java.util.concurrent.atomic.AtomicInteger

private val log = LoggerFactory.getLogger("Http")

/** One line for each request. */
fun requestLog() = ResponseFilters.ReportHttpTransaction { tx ->
    log.info("{} {} {} {} ms", tx.request.method, tx.request.uri, tx.response.status.code, tx.duration.toMillis())
}

/** Answers what is inside, whatever goes wrong there. */
val catchErrors = Filter { next ->
    { request ->
        try {
            next(request)
        } catch (e: StoreUnavailable) {
            log.error("{} {}", request.method, request.uri, e)
            unavailable("the database does not answer")
        } catch (e: Exception) {
            log.error("{} {}", request.method, request.uri, e)
            internalError()
        }
    }
}

/** Lets requests in until closed, and knows how many are inside. Works alike on all engines. */
class Gate {
    private val inside = AtomicInteger()

    @Volatile
    private var closed = false

    val filter = Filter { next ->
        { request ->
            inside.incrementAndGet()
            try {
                if (closed) unavailable("the service is stopping").header("Connection", "close") else next(request)
            } finally {
                inside.decrementAndGet()
            }
        }
    }

    /** Refuses new requests and waits until those inside have left, [timeoutMs] at most. */
    fun close(timeoutMs: Long) {
        closed = true
        val deadline = System.nanoTime() + timeoutMs * 1_000_000
        while (inside.get() > 0 && System.nanoTime() < deadline) Thread.sleep(POLL_MS)
        // The engines write an answer after it has left the gate.
        Thread.sleep(FLUSH_MS)
    }

    private companion object {
        const val POLL_MS = 10L
        const val FLUSH_MS = 100L
    }
}
