package bakeoff.locations

import org.apache.http.HttpEntityEnclosingRequest
import org.apache.http.HttpRequest
import org.apache.http.HttpResponse
import org.apache.http.config.SocketConfig
import org.apache.http.entity.ByteArrayEntity
import org.apache.http.impl.bootstrap.ServerBootstrap
import org.apache.http.protocol.HttpRequestHandler
import org.http4k.core.HttpHandler
import org.http4k.core.Method
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.server.Http4kServer
import org.http4k.server.ServerConfig
import java.util.concurrent.TimeUnit

/** HttpCore 4.4 for http4k: blocking, a thread for each connection, as many as there are connections. */
class Apache4Engine(private val port: Int, private val backlog: Int) : ServerConfig {
    override fun toServer(httpHandler: HttpHandler): Http4kServer = object : Http4kServer {
        private val sockets = SocketConfig.custom()
            .setBacklogSize(backlog)
            .setSoReuseAddress(true)
            .setSoKeepAlive(true)
            .setTcpNoDelay(true)
            .build()
        private val requestHandler = HttpRequestHandler { request, answer, _ ->
            request.answer(httpHandler).writeTo(answer)
        }
        private val server = ServerBootstrap.bootstrap()
            .setListenerPort(port)
            .setSocketConfig(sockets)
            .registerHandler("*", requestHandler)
            .create()

        override fun start() = apply { server.start() }

        // Does not wait for idle connections; requests under way have been waited for before.
        override fun stop() = apply { server.shutdown(0, TimeUnit.SECONDS) }

        override fun port() = server.localPort
    }
}

private fun HttpRequest.answer(handler: HttpHandler): Response {
    val method = methods[requestLine.method]
    return if (method == null) notImplemented() else handler(toRequest(method))
}

private fun HttpRequest.toRequest(method: Method): Request {
    val request = Request(method, requestLine.uri).headers(allHeaders.map { it.name to it.value })
    val entity = (this as? HttpEntityEnclosingRequest)?.entity ?: return request
    return request.body(entity.content, entity.contentLength.takeIf { it >= 0 })
}

private fun Response.writeTo(answer: HttpResponse) {
    answer.setStatusCode(status.code)
    headers.forEach { (name, value) -> answer.addHeader(name, value) }
    answer.entity = body.payload.run { ByteArrayEntity(array(), arrayOffset() + position(), remaining()) }
}
