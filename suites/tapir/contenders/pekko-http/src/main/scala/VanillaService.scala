package bakeoff.tapir

import com.github.plokhotnyuk.jsoniter_scala.core.{JsonReaderException, readFromArray}
import org.apache.pekko.http.scaladsl.model.ws.TextMessage
import org.apache.pekko.http.scaladsl.model.{EntityStreamSizeException, StatusCodes}
import org.apache.pekko.http.scaladsl.server.Directives.*
import org.apache.pekko.http.scaladsl.server.{ExceptionHandler, Route}
import org.apache.pekko.http.scaladsl.unmarshalling.{FromEntityUnmarshaller, Unmarshaller}
import org.apache.pekko.stream.scaladsl.{FileIO, Flow, Sink, Source}
import org.apache.pekko.stream.{IOOperationIncompleteException, Materializer}

import java.io.File
import java.nio.file.Files
import scala.concurrent.duration.*
import scala.concurrent.{ExecutionContext, Future}

/** The service with pekko-http alone. */
object VanillaService:
  def route(
      settings: Settings
  )(using materializer: Materializer, executor: ExecutionContext): Route =
    val numbered = concat(settings.numbers.map(ofNumber)*)
    concat(handleExceptions(tooLarge)(withSizeLimit(Settings.BodyLimit)(numbered)), timestamps)

  private def ofNumber(
      n: Int
  )(using materializer: Materializer, executor: ExecutionContext): Route =
    concat(
      (get & path(s"path$n" / IntNumber))(id => complete(Answers.get(n, id))),
      (post & path(s"path$n") & entity(as[String]))(body => complete(Answers.string(n, body))),
      (post & path(s"pathBytes$n") & entity(as[Array[Byte]])) { body =>
        complete(Answers.bytes(n, body))
      },
      (post & path(s"pathFile$n") & extractDataBytes) { body =>
        val path = Files.createTempFile("bakeoff", ".tmp")
        val received = body.runWith(FileIO.toPath(path))
        received.failed.foreach(_ => Files.deleteIfExists(path))
        onSuccess(received)(_ => complete(Answers.file(n, path.toFile)))
      },
      (post & path(s"pathJson$n") & entity(as[Order]))(order => complete(Answers.json(n, order)))
    )

  private given FromEntityUnmarshaller[Order] = Unmarshaller.byteArrayUnmarshaller.map { body =>
    try readFromArray[Order](body)
    catch case cause: JsonReaderException => throw IllegalArgumentException("not an order", cause)
  }

  /** A body that goes into a file is received by a stream, whose failure is wrapped. */
  private val tooLarge = ExceptionHandler {
    case failure: IOOperationIncompleteException
        if failure.getCause.isInstanceOf[EntityStreamSizeException] =>
      complete(StatusCodes.PayloadTooLarge)
  }

  private val timestamps: Route =
    // A tick would come 10 to 20 ms later each time, as Pekko's scheduler has it.
    val push = Source
      .repeat(())
      .throttle(1, PushEveryMillis.millis)
      .map(_ => TextMessage(Answers.timestamp()))
    path("ws" / "ts")(handleWebSocketMessages(Flow.fromSinkAndSourceCoupled(Sink.ignore, push)))
