package bakeoff.locations

import java.util.concurrent.atomic.AtomicInteger

/** Lets calls in until closed, and knows how many are inside: Ktor closes connections that still wait for an answer. */
class Gate {
    private val inside = AtomicInteger()

    @Volatile
    private var closed = false

    suspend fun pass(next: suspend () -> Unit) {
        inside.incrementAndGet()
        try {
            if (closed) throw Stopping() else next()
        } finally {
            inside.decrementAndGet()
        }
    }

    /** Refuses new calls and waits until those inside have left, [timeoutMs] at most. */
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

class Stopping : Exception("the service is stopping")
