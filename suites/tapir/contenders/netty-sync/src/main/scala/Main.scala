package bakeoff.tapir

import ox.flow.Flow
import ox.{never, supervised, useInScope}
import sttp.capabilities.WebSockets
import sttp.monad.{IdentityMonad, MonadError}
import sttp.shared.Identity
import sttp.tapir.*
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.netty.{NettyConfig, NettySocketConfig}
import sttp.tapir.server.netty.sync.{NettySyncServer, NettySyncServerOptions, OxStreams}

import scala.concurrent.duration.*

/** Tapir's own server on Netty, with a virtual thread for each request. */
object Main:
  private given MonadError[Identity] = IdentityMonad

  def main(args: Array[String]): Unit =
    val settings = Settings.ofProcess(args.toSeq).withoutVanilla
    val options = NettySyncServerOptions.customiseInterceptors
      .serverLog(Endpoints.serverLog[Identity](settings.kind))
      .options
      .copy(createFile = _ => ReceivedFiles.create())
    val config = NettyConfig.default
      .host("0.0.0.0")
      .port(Settings.Port)
      .socketConfig(NettySocketConfig.default.withReuseAddress)
    val endpoints = new Endpoints[Identity].all(settings.numbers) :+ timestamps
    supervised {
      val binding = NettySyncServer(options, config).addEndpoints(endpoints).start()
      println(s"listening on port ${Settings.Port}")
      sys.addShutdownHook {
        try binding.stop()
        finally ReceivedFiles.remove()
      }
      never
    }

  private val timestamps: ServerEndpoint[OxStreams & WebSockets, Identity] =
    endpoint.get
      .in("ws" / "ts")
      .out(
        webSocketBody[String, CodecFormat.TextPlain, String, CodecFormat.TextPlain](OxStreams)
      )
      .serverLogicSuccess[Identity] { _ => in =>
        val push = Flow.tick(PushEveryMillis.millis).map(_ => Answers.timestamp())
        in.drain().merge(push, propagateDoneLeft = true)
      }
