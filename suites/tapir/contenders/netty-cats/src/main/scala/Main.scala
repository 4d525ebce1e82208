package bakeoff.tapir

import cats.effect.std.Dispatcher
import cats.effect.{ExitCode, IO, IOApp, Resource}
import sttp.monad.MonadError
import sttp.tapir.integ.cats.effect.CatsMonadError
import sttp.tapir.server.netty.{NettyConfig, NettySocketConfig}
import sttp.tapir.server.netty.cats.{NettyCatsServer, NettyCatsServerBinding}
import sttp.tapir.server.netty.cats.NettyCatsServerOptions

object Main:
  def main(args: Array[String]): Unit =
    Service(Settings.ofProcess(args.toSeq).withoutVanilla).main(args)

/** Tapir's own server on Netty, with Cats Effect. */
final class Service(settings: Settings) extends IOApp:
  private given MonadError[IO] = new CatsMonadError[IO]

  def run(args: List[String]): IO[ExitCode] =
    Dispatcher
      .parallel[IO]
      .flatMap(server)
      .use(_ => IO.println(s"listening on port ${Settings.Port}") *> IO.never)
      .guarantee(IO.blocking(ReceivedFiles.remove()))
      .as(ExitCode.Success)

  private def server(dispatcher: Dispatcher[IO]): Resource[IO, NettyCatsServerBinding[IO]] =
    val options = NettyCatsServerOptions
      .customiseInterceptors[IO](dispatcher)
      .serverLog(Endpoints.serverLog[IO](settings.kind))
      .options
      .copy(createFile = _ => IO(ReceivedFiles.create()))
    val config = NettyConfig.default
      .host("0.0.0.0")
      .port(Settings.Port)
      .socketConfig(NettySocketConfig.default.withReuseAddress)
    val start =
      NettyCatsServer[IO](options, config)
        .addEndpoints(new Endpoints[IO].all(settings.numbers))
        .start()
    Resource.make(start)(_.stop())
