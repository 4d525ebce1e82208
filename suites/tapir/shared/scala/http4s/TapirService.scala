package bakeoff.tapir

import cats.effect.IO
import fs2.Stream
import org.http4s.HttpRoutes
import org.http4s.server.websocket.WebSocketBuilder2
import sttp.capabilities.WebSockets
import sttp.capabilities.fs2.Fs2Streams
import sttp.monad.MonadError
import sttp.tapir.*
import sttp.tapir.integ.cats.effect.CatsMonadError
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.http4s.{Http4sServerInterpreter, Http4sServerOptions}

import scala.concurrent.duration.*

/** The service described with Tapir, on its interpreter for http4s. */
object TapirService:
  private given MonadError[IO] = new CatsMonadError[IO]

  def routes(settings: Settings)(builder: WebSocketBuilder2[IO]): HttpRoutes[IO] =
    val options = Http4sServerOptions
      .customiseInterceptors[IO]
      .serverLog(Endpoints.serverLog[IO](settings.kind))
      .options
      .copy(createFile = _ => IO.blocking(ReceivedFiles.create()))
    val endpoints = new Endpoints[IO].all(settings.numbers) :+ timestamps
    Http4sServerInterpreter[IO](options).toWebSocketRoutes(endpoints)(builder)

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
