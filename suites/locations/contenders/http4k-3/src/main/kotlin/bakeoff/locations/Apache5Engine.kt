package bakeoff.locations

import org.apache.hc.core5.http.ClassicHttpRequest
import org.apache.hc.core5.http.ClassicHttpResponse
import org.apache.hc.core5.http.impl.bootstrap.ServerBootstrap
import org.apache.hc.core5.http.impl.bootstrap.StandardFilter
import org.apache.hc.core5.http.io.HttpFilterHandler
import org.apache.hc.core5.http.io.SocketConfig
import org.apache.hc.core5.http.io.entity.ByteArrayEntity
import org.apache.hc.core5.http.message.BasicClassicHttpResponse
import org.apache.hc.core5.io.CloseMode
import org.http4k.core.HttpHandler
import org.http4k.core.Method
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.server.Http4kServer
import org.http4k.server.ServerConfig

/** HttpCore 5 for http4k: blocking, a thread for each connection, as many as there are connections. */
class Apache5Engine(private val port: Int, private val backlog: Int) : ServerConfig {
    override fun toServer(httpHandler: HttpHandler): Http4kServer = object : Http4kServer {
        private val sockets = SocketConfig.custom()
            .setBacklogSize(backlog)
            .setSoReuseAddress(true)
            .setSoKeepAlive(true)
            .setTcpNoDelay(true)
            .build()

        // Takes the place of the filter that looks a handler up by host and path: HttpCore 5 serves the one host name
        // it was told, and this service answers under any.
        private val anyHost = HttpFilterHandler { request, answer, _, _ ->
            answer.submitResponse(request.answer(httpHandler).toApache())
        }
        private val server = ServerBootstrap.bootstrap()
            .setListenerPort(port)
            .setSocketConfig(sockets)
            .replaceFilter(StandardFilter.MAIN_HANDLER.name, anyHost)
            .create()

        override fun start() = apply { server.start() }

        // Does not wait for idle connections; requests under way have been waited for before.
        override fun stop() = apply { server.close(CloseMode.IMMEDIATE) }

        override fun port() = server.localPort
    }
}

private fun ClassicHttpRequest.answer(handler: HttpHandler): Response {
    val known = methods[method]
    return if (known == null) notImplemented() else handler(toRequest(known))
}

private fun ClassicHttpRequest.toRequest(method: Method): Request {
    val request = Request(method, requestUri).headers(headers.map { it.name to it.value })
    val entity = entity ?: return request
    return request.body(entity.content, entity.contentLength.takeIf { it >= 0 })
}

private fun Response.toApache(): ClassicHttpResponse = BasicClassicHttpResponse(status.code).also { answer ->
    headers.forEach { (name, value) -> answer.addHeader(name, value) }
    // The type is among the headers already.
    answer.entity = body.payload.run { ByteArrayEntity(array(), arrayOffset() + position(), remaining(), null) }
}
