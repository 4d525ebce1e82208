package bakeoff.tapir

import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.{Sink, Source}
import org.apache.pekko.util.ByteString
import play.api.mvc.{MultipartFormData, PlayBodyParsers}
import play.core.parsers.Multipart
import sttp.model.{Header, MediaType, Part}
import sttp.tapir.RawBodyType
import sttp.tapir.model.ServerRequest
import sttp.tapir.server.interpreter.RawValue

import java.nio.charset.StandardCharsets
import scala.concurrent.Future

/** Bodies as Play receives them. */
final class PlayReceiving(parsers: PlayBodyParsers)(using materializer: Materializer)
    extends Receiving:
  import materializer.executionContext

  override def body(request: ServerRequest): Source[ByteString, Any] =
    request match
      case play: PlayServerRequest => play.body
      case other => throw IllegalArgumentException(s"not a request of Play: $other")

  override def parts(
      request: ServerRequest,
      types: RawBodyType.MultipartBody,
      maxBytes: Option[Long]
  ): Future[RawValue[Seq[Part[Any]]]] =
    val header = request.underlying.asInstanceOf[play.api.mvc.RequestHeader]
    val inMemory: Multipart.FilePartHandler[ByteString] = info =>
      play.api.libs.streams
        .Accumulator(Sink.fold[ByteString, ByteString](ByteString.empty)(_ ++ _))
        .map(all =>
          MultipartFormData.FilePart(info.partName, info.fileName, info.contentType, all)
        )
    val parser = parsers.multipartFormData(inMemory, maxBytes.getOrElse(Long.MaxValue))
    parser(header).run(PekkoRequestBody.limited(body(request), maxBytes)).flatMap {
      case Left(refused) =>
        Future.failed(IllegalArgumentException(s"no multipart body: ${refused.header.status}"))
      case Right(form) =>
        val texts = form.dataParts.toSeq.flatMap { (name, values) =>
          values.map { text =>
            part(name, ByteString(text, StandardCharsets.UTF_8), types, None, None)
          }
        }
        val files = form.files.map { file =>
          part(file.key, file.ref, types, Some(file.filename), file.contentType)
        }
        Future.sequence(texts ++ files).map { read =>
          val known = read.flatten
          RawValue(known.map(_._1), known.flatMap(_._2.createdFiles))
        }
    }

  /** A part that the endpoint asks for. */
  private def part(
      name: String,
      bytes: ByteString,
      types: RawBodyType.MultipartBody,
      fileName: Option[String],
      contentType: Option[String]
  ): Future[Option[(Part[Any], RawValue[?])]] =
    types.partType(name) match
      case None => Future.successful(None)
      case Some(bodyType) =>
        PekkoRequestBody.read(Source.single(bytes), bodyType).map { raw =>
          val headers = contentType.toList.map { text =>
            Header.contentType(MediaType.unsafeParse(text))
          }
          val params = fileName.map(Part.FileNameDispositionParam -> _).toMap
          Some((Part(name, raw.value, params, headers), raw))
        }
