package bakeoff.tapir

import cats.effect.IO
import cats.effect.std.Dispatcher
import fs2.Stream
import io.vertx.ext.web.Router
import sttp.capabilities.WebSockets
import sttp.capabilities.fs2.Fs2Streams
import sttp.monad.MonadError
import sttp.tapir.*
import sttp.tapir.integ.cats.effect.CatsMonadError
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.vertx.cats.{VertxCatsServerInterpreter, VertxCatsServerOptions}

import scala.concurrent.duration.*

/** The service described with Tapir, on its interpreter for Vert.x and Cats Effect. */
object TapirService:
  private given MonadError[IO] = new CatsMonadError[IO]

  def mount(router: Router, settings: Settings, dispatcher: Dispatcher[IO]): Unit =
    val options = VertxCatsServerOptions
      .customiseInterceptors[IO](dispatcher)
      .serverLog(Endpoints.serverLog[IO](settings.kind))
      .options
    val interpreter = VertxCatsServerInterpreter[IO](options)
    new Endpoints[IO].all(settings.numbers).foreach(interpreter.route(_)(router))
    interpreter.route(timestamps)(router)

  private val timestamps: ServerEndpoint[Fs2Streams[IO] & WebSockets, IO] =
    val push: Stream[IO, String] =
      Stream.awakeEvery[IO](PushEveryMillis.millis).evalMap(_ => IO(Answers.timestamp()))
    endpoint.get
      .in("ws" / "ts")
      .out(
        webSocketBody[String, CodecFormat.TextPlain, String, CodecFormat.TextPlain](
          Fs2Streams[IO]
        )
      )
      .serverLogicSuccess[IO](_ => IO.pure(in => push.concurrently(in)))
