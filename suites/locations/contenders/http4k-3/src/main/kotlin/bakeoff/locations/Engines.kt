package bakeoff.locations

import io.undertow.Undertow
import io.undertow.server.HttpServerExchange
import io.undertow.server.handlers.BlockingHandler
import io.undertow.util.HttpString
import org.http4k.core.HttpHandler
import org.http4k.core.Method
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.server.Http4kServer
import org.http4k.server.Jetty
import org.http4k.server.ServerConfig
import org.http4k.server.SunHttp
import java.net.InetSocketAddress

/** The HTTP servers the service can run on, each with the defaults of its makers and of http4k. */
enum class Engine(val on: (port: Int, backlog: Int) -> ServerConfig) {
    UNDERTOW({ port, _ -> UndertowEngine(port) }),
    JETTY({ port, _ -> Jetty(port) }),
    NETTY({ port, _ -> NettyEngine(port) }),
    APACHE5({ port, backlog -> Apache5Engine(port, backlog) }),
    APACHE4({ port, backlog -> Apache4Engine(port, backlog) }),
    SUNHTTP({ port, _ -> SunHttp(port) })
}

/** The methods that http4k knows, by name. */
internal val methods = Method.values().associateBy { it.name }

/** Undertow for http4k: reads a request whole, answers it on one of Undertow's worker threads. */
class UndertowEngine(private val port: Int) : ServerConfig {
    override fun toServer(httpHandler: HttpHandler): Http4kServer = object : Http4kServer {
        private val server = Undertow.builder()
            .addHttpListener(port, "0.0.0.0")
            .setHandler(BlockingHandler { exchange -> exchange.answer(httpHandler) })
            .build()

        override fun start() = apply { server.start() }

        override fun stop() = apply { server.stop() }

        override fun port() = (server.listenerInfo.first().address as InetSocketAddress).port
    }
}

private fun HttpServerExchange.answer(handler: HttpHandler) {
    val method = methods[requestMethod.toString()]
    send(if (method == null) notImplemented() else handler(toRequest(method)))
}

private fun HttpServerExchange.toRequest(method: Method): Request {
    val uri = if (queryString.isEmpty()) requestURI else "$requestURI?$queryString"
    val headers = requestHeaders.flatMap { values -> values.map { values.headerName.toString() to it } }
    return Request(method, uri).headers(headers).body(inputStream, requestContentLength.takeIf { it >= 0 })
}

private fun HttpServerExchange.send(response: Response) {
    statusCode = response.status.code
    response.headers.forEach { (name, value) -> responseHeaders.add(HttpString(name), value) }
    // The whole body at once lets Undertow set Content-Length; all answers of this service are in memory anyway.
    responseSender.send(response.body.payload)
}
