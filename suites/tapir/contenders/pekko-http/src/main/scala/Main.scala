package bakeoff.tapir

import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.Http

import scala.concurrent.duration.*
import scala.concurrent.{Await, ExecutionContext}

object Main:
  def main(args: Array[String]): Unit =
    val settings = Settings.ofProcess(args.toSeq)
    given system: ActorSystem = ActorSystem("bakeoff")
    given ExecutionContext = system.dispatcher
    val route = settings.kind match
      case Kind.Vanilla => VanillaService.route(settings)
      case _            => TapirService.route(settings)
    val binding = Await.result(Http().newServerAt("0.0.0.0", Settings.Port).bind(route), 15.seconds)
    println(s"listening on port ${Settings.Port}")
    sys.addShutdownHook {
      Await.result(binding.terminate(10.seconds).flatMap(_ => system.terminate()), 14.seconds)
    }
