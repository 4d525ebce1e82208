package bakeoff.locations

import org.http4k.core.HttpHandler
import org.http4k.core.Response
import org.http4k.core.Status.Companion.NOT_FOUND
import org.http4k.core.Status.Companion.OK
import org.http4k.server.asServer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.EnumSource
import java.io.InputStream
import java.net.InetAddress
import java.net.Socket

/** Each engine over a real connection. */
class EnginesTest {
    private val echo: HttpHandler = { request ->
        when (request.uri.path) {
            "/echo" -> Response(OK).header("x-seen", request.header("x-sent")).body("${request.method} ${request.uri}")
            "/body" -> Response(OK).body(request.bodyString())
            else -> Response(NOT_FOUND).body("ž")
        }
    }

    @ParameterizedTest
    @EnumSource(Engine::class)
    fun `hands requests on and answers back`(engine: Engine) = on(engine) {
        // All on one connection, under any host name.
        send("GET /echo?a=1&b=%20x HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Sent: one\r\n\r\n")
        assertEquals(Answer(200, "GET /echo?a=1&b=%20x", "one"), answer())
        send("POST /body HTTP/1.1\r\nHost: cities.example\r\nContent-Length: 3\r\n\r\nabc")
        assertEquals(Answer(200, "abc", null), answer())
        send("GET /nowhere HTTP/1.1\r\nHost: localhost:8080\r\n\r\n")
        assertEquals(Answer(404, "ž", null), answer())
    }

    private fun on(engine: Engine, talk: Socket.() -> Unit) {
        val server = echo.asServer(engine.on(0, 10)).start()
        try {
            Socket(InetAddress.getLoopbackAddress(), server.port()).use {
                it.soTimeout = TIMEOUT_MS
                it.talk()
            }
        } finally {
            server.stop()
        }
    }

    private data class Answer(val status: Int, val body: String, val seen: String?)

    private fun Socket.send(text: String) = getOutputStream().run {
        write(text.toByteArray())
        flush()
    }

    private fun Socket.answer(): Answer = getInputStream().run {
        val status = line().split(' ')[1].toInt()
        val headers = generateSequence { line().takeIf { it.isNotEmpty() } }
            .map { it.split(": ", limit = 2) }
            .associate { it[0].toLowerCase() to it[1] }
        val chunked = headers["transfer-encoding"] == "chunked"
        val body = if (chunked) chunks() else bytes(headers.getValue("content-length").toInt())
        Answer(status, body.toString(Charsets.UTF_8), headers["x-seen"])
    }

    private fun InputStream.line() = generateSequence { read().takeIf { it >= 0 && it != '\n'.toInt() } }
        .map { it.toChar() }.joinToString("").trimEnd()

    private fun InputStream.chunks(): ByteArray {
        val size = line().toInt(radix = 16)
        val chunk = bytes(size)
        line()
        return if (size == 0) chunk else chunk + chunks()
    }

    private fun InputStream.bytes(count: Int) = ByteArray(count) { read().toByte() }

    private companion object {
        const val TIMEOUT_MS = 5_000
    }
}
