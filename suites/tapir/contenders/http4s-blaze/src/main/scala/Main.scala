package bakeoff.tapir

import cats.effect.{ExitCode, IO, IOApp}
import org.http4s.blaze.server.BlazeServerBuilder

import scala.concurrent.duration.*

object Main:
  def main(args: Array[String]): Unit =
    Service(Settings.ofProcess(args.toSeq)).main(args)

/** http4s on Ember. */
final class Service(settings: Settings) extends IOApp:
  def run(args: List[String]): IO[ExitCode] =
    val routes = settings.kind match
      case Kind.Vanilla => VanillaService.routes(settings)
      case _            => TapirService.routes(settings)
    BlazeServerBuilder[IO]
      .bindHttp(Settings.Port, "0.0.0.0")
      .withHttpWebSocketApp(builder => routes(builder).orNotFound)
      .resource
      .use(_ => IO.println(s"listening on port ${Settings.Port}") *> IO.never)
      .guarantee(IO.blocking(ReceivedFiles.remove()))
      .as(ExitCode.Success)
