package bakeoff.tapir

import cats.effect.IO
import cats.syntax.all.*
import com.github.plokhotnyuk.jsoniter_scala.core.readFromArray
import fs2.Stream
import fs2.io.file.{Files, Path}
import org.http4s.*
import org.http4s.dsl.io.*
import org.http4s.server.middleware.EntityLimiter
import org.http4s.server.websocket.WebSocketBuilder2
import org.http4s.websocket.WebSocketFrame

import scala.concurrent.duration.*

/** The service with http4s alone. */
object VanillaService:
  def routes(settings: Settings)(builder: WebSocketBuilder2[IO]): HttpRoutes[IO] =
    val numbered = HttpRoutes.of[IO](settings.numbers.map(ofNumber).reduceRight(_ orElse _))
    val limited = EntityLimiter.httpRoutes(numbered, Settings.BodyLimit)
    limited.recoverWith { case EntityLimiter.EntityTooLarge(_) =>
      HttpRoutes.pure(Response[IO](Status.PayloadTooLarge))
    } <+> timestamps(builder)

  private def ofNumber(n: Int): PartialFunction[Request[IO], IO[Response[IO]]] =
    val (path, bytes, file, json) = (s"path$n", s"pathBytes$n", s"pathFile$n", s"pathJson$n")
    {
      case GET -> Root / `path` / IntVar(id) => Ok(Answers.get(n, id))
      case request @ POST -> Root / `path` =>
        request.as[String].flatMap(body => Ok(Answers.string(n, body)))
      case request @ POST -> Root / `bytes` =>
        request.as[Array[Byte]].flatMap(body => Ok(Answers.bytes(n, body)))
      case request @ POST -> Root / `file` =>
        received(request).flatMap(body => Ok(Answers.file(n, body.toNioPath.toFile)))
      case request @ POST -> Root / `json` =>
        request.decode[Order](order => Ok(Answers.json(n, order)))
    }

  private given EntityDecoder[IO, Order] =
    EntityDecoder.byteArrayDecoder[IO].flatMapR { body =>
      DecodeResult(
        IO(readFromArray[Order](body)).attempt
          .map(_.leftMap(cause => MalformedMessageBodyFailure("not an order", Some(cause))))
      )
    }

  private def received(request: Request[IO]): IO[Path] =
    IO.blocking(Path.fromNioPath(ReceivedFiles.create().toPath)).flatMap { file =>
      request.body
        .through(Files[IO].writeAll(file))
        .compile
        .drain
        .as(file)
        .onError(_ => Files[IO].delete(file))
    }

  private def timestamps(builder: WebSocketBuilder2[IO]): HttpRoutes[IO] =
    val push: Stream[IO, WebSocketFrame] = Stream
      .awakeEvery[IO](PushEveryMillis.millis)
      .evalMap(_ => IO(WebSocketFrame.Text(Answers.timestamp())))
    HttpRoutes.of[IO] { case GET -> Root / "ws" / "ts" =>
      builder.build(push, _.drain)
    }
