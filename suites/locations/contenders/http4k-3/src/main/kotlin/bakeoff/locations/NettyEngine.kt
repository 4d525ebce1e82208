package bakeoff.locations

import io.netty.bootstrap.ServerBootstrap
import io.netty.buffer.ByteBufInputStream
import io.netty.buffer.Unpooled
import io.netty.channel.Channel
import io.netty.channel.ChannelHandlerContext
import io.netty.channel.ChannelInitializer
import io.netty.channel.ChannelOption
import io.netty.channel.SimpleChannelInboundHandler
import io.netty.channel.nio.NioEventLoopGroup
import io.netty.channel.socket.SocketChannel
import io.netty.channel.socket.nio.NioServerSocketChannel
import io.netty.handler.codec.http.DefaultFullHttpResponse
import io.netty.handler.codec.http.FullHttpRequest
import io.netty.handler.codec.http.FullHttpResponse
import io.netty.handler.codec.http.HttpHeaderNames
import io.netty.handler.codec.http.HttpObjectAggregator
import io.netty.handler.codec.http.HttpResponseStatus
import io.netty.handler.codec.http.HttpServerCodec
import io.netty.handler.codec.http.HttpServerKeepAliveHandler
import io.netty.handler.codec.http.HttpVersion
import org.http4k.core.HttpHandler
import org.http4k.core.Method
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.server.Http4kServer
import org.http4k.server.ServerConfig
import java.net.InetSocketAddress
import java.util.concurrent.TimeUnit

private const val BACKLOG = 1_000
private const val MAX_REQUEST_BYTES = 1 shl 20
private const val STOP_TIMEOUT_MS = 1_000L

/** Netty for http4k. As in http4k's own module the handler, which blocks, is called on the event loop. */
class NettyEngine(private val port: Int) : ServerConfig {
    override fun toServer(httpHandler: HttpHandler): Http4kServer = object : Http4kServer {
        private val acceptor = NioEventLoopGroup(1)
        private val loops = NioEventLoopGroup()
        private lateinit var listener: Channel

        override fun start() = apply {
            listener = ServerBootstrap()
                .group(acceptor, loops)
                .channel(NioServerSocketChannel::class.java)
                .option(ChannelOption.SO_BACKLOG, BACKLOG)
                .childHandler(Pipeline(httpHandler))
                .bind(port).sync().channel()
        }

        override fun stop() = apply {
            listener.close().sync()
            listOf(acceptor, loops)
                .map { it.shutdownGracefully(0, STOP_TIMEOUT_MS, TimeUnit.MILLISECONDS) }
                .forEach { it.sync() }
        }

        override fun port() = (listener.localAddress() as InetSocketAddress).port
    }
}

private class Pipeline(private val handler: HttpHandler) : ChannelInitializer<SocketChannel>() {
    override fun initChannel(channel: SocketChannel) {
        channel.pipeline().addLast(
            HttpServerCodec(),
            HttpServerKeepAliveHandler(),
            HttpObjectAggregator(MAX_REQUEST_BYTES),
            Exchange(handler)
        )
    }
}

private class Exchange(private val handler: HttpHandler) : SimpleChannelInboundHandler<FullHttpRequest>() {
    override fun channelRead0(context: ChannelHandlerContext, message: FullHttpRequest) {
        val method = methods[message.method().name()]
        val response = when {
            message.decoderResult().isFailure -> badRequest("this is not HTTP").header("Connection", "close")
            method == null -> notImplemented()
            else -> handler(message.toRequest(method))
        }
        context.writeAndFlush(response.toNetty())
    }

    /** Mostly a caller who has gone; there is nobody to tell. */
    override fun exceptionCaught(context: ChannelHandlerContext, cause: Throwable) {
        context.close()
    }
}

private fun FullHttpRequest.toRequest(method: Method) = Request(method, uri())
    .headers(headers().map { it.key to it.value })
    .body(ByteBufInputStream(content()), content().readableBytes().toLong())

private fun Response.toNetty(): FullHttpResponse {
    val content = Unpooled.wrappedBuffer(body.payload)
    val status = HttpResponseStatus.valueOf(status.code)
    return DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, content).also { answer ->
        headers.forEach { (name, value) -> answer.headers().add(name, value) }
        answer.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, content.readableBytes())
    }
}
