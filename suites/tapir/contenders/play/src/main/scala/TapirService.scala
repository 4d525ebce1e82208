package bakeoff.tapir

import org.apache.pekko.stream.scaladsl.{Flow, Sink, Source}
import play.api.BuiltInComponents
import play.api.routing.Router.Routes
import sttp.capabilities.WebSockets
import sttp.monad.{FutureMonad, MonadError}
import sttp.tapir.*
import sttp.tapir.server.ServerEndpoint

import scala.concurrent.duration.*
import scala.concurrent.{ExecutionContext, Future}

/** The service described with Tapir. */
object TapirService:
  def routes(settings: Settings, components: BuiltInComponents): Routes =
    given ExecutionContext = components.executionContext
    given MonadError[Future] = FutureMonad()
    val endpoints = new Endpoints[Future].all(settings.numbers) :+ timestamps
    Interpreter.routes(endpoints, Endpoints.serverLog[Future](settings.kind), components)

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
