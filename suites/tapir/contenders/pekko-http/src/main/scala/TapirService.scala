package bakeoff.tapir

import org.apache.pekko.http.scaladsl.server.Route
import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.{Flow, Sink, Source}
import sttp.capabilities.WebSockets
import sttp.monad.{FutureMonad, MonadError}
import sttp.tapir.*
import sttp.tapir.server.ServerEndpoint

import scala.concurrent.duration.*
import scala.concurrent.{ExecutionContext, Future}

/** The service described with Tapir. */
object TapirService:
  def route(
      settings: Settings
  )(using materializer: Materializer, executor: ExecutionContext): Route =
    given MonadError[Future] = FutureMonad()
    val endpoints = new Endpoints[Future].all(settings.numbers) :+ timestamps
    Interpreter.route(endpoints, Endpoints.serverLog[Future](settings.kind))

  private val timestamps: ServerEndpoint[Interpreter.Streams & WebSockets, Future] =
    // A tick would come 10 to 20 ms later each time, as Pekko's scheduler has it.
    val push = Source
      .repeat(())
      .throttle(1, PushEveryMillis.millis)
      .map(_ => Answers.timestamp())
    endpoint.get
      .in("ws" / "ts")
      .out(
        webSocketBody[String, CodecFormat.TextPlain, String, CodecFormat.TextPlain](
          Interpreter.Streams
        )
      )
      .serverLogicSuccess[Future] { _ =>
        Future.successful(Flow.fromSinkAndSourceCoupled(Sink.ignore, push))
      }
