package bakeoff.tapir

import cats.effect.{ExitCode, IO, IOApp}
import com.comcast.ip4s.{Port, ipv4}
import org.http4s.ember.server.EmberServerBuilder

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
    EmberServerBuilder
      .default[IO]
      .withHost(ipv4"0.0.0.0")
      .withPort(Port.fromInt(Settings.Port).get)
      .withHttpWebSocketApp(builder => routes(builder).orNotFound)
      .withShutdownTimeout(5.seconds)
      .build
      .use(_ => IO.println(s"listening on port ${Settings.Port}") *> IO.never)
      .guarantee(IO.blocking(ReceivedFiles.remove()))
      .as(ExitCode.Success)
