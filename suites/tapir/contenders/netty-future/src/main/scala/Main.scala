package bakeoff.tapir

import sttp.monad.{FutureMonad, MonadError}
import sttp.tapir.server.netty.{
  NettyConfig,
  NettyFutureServer,
  NettyFutureServerOptions,
  NettySocketConfig
}

import scala.concurrent.{Await, ExecutionContext, Future, blocking}
import scala.concurrent.duration.*

/** Tapir's own server on Netty, with Scala's futures. */
object Main:
  private given ExecutionContext = ExecutionContext.global
  private given MonadError[Future] = new FutureMonad

  def main(args: Array[String]): Unit =
    val settings = Settings.ofProcess(args.toSeq).withoutVanilla
    val options = NettyFutureServerOptions.customiseInterceptors
      .serverLog(Endpoints.serverLog[Future](settings.kind))
      .options
      .copy(createFile = _ => Future(blocking(ReceivedFiles.create())))
    val config = NettyConfig.default
      .host("0.0.0.0")
      .port(Settings.Port)
      .socketConfig(NettySocketConfig.default.withReuseAddress)
    val server =
      NettyFutureServer(options, config).addEndpoints(new Endpoints[Future].all(settings.numbers))
    val binding = Await.result(server.start(), 15.seconds)
    println(s"listening on port ${Settings.Port}")
    sys.addShutdownHook {
      try Await.result(binding.stop(), 14.seconds)
      finally ReceivedFiles.remove()
    }
