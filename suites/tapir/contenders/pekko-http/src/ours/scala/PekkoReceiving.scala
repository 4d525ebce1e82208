package bakeoff.tapir

import org.apache.pekko.http.scaladsl.model.{
  EntityStreamSizeException,
  HttpRequest,
  Multipart,
  RequestEntity
}
import org.apache.pekko.http.scaladsl.unmarshalling.Unmarshal
import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.{Sink, Source}
import org.apache.pekko.util.ByteString
import sttp.capabilities.StreamMaxLengthExceededException
import sttp.model.{Header, Part}
import sttp.tapir.RawBodyType
import sttp.tapir.model.ServerRequest
import sttp.tapir.server.interpreter.RawValue

import scala.concurrent.Future

/** Bodies as pekko-http receives them. */
final class PekkoReceiving(using materializer: Materializer) extends Receiving:
  import materializer.executionContext

  override def body(request: ServerRequest): Source[ByteString, Any] = entity(request).dataBytes

  override def parts(
      request: ServerRequest,
      types: RawBodyType.MultipartBody,
      maxBytes: Option[Long]
  ): Future[RawValue[Seq[Part[Any]]]] =
    val limited = maxBytes.fold(entity(request))(entity(request).withSizeLimit)
    Unmarshal(limited)
      .to[Multipart.FormData]
      .flatMap(_.parts.mapAsync(1)(part(_, types)).runWith(Sink.seq))
      .map { read =>
        val known = read.flatten
        RawValue(known.map(_._1), known.flatMap(_._2.createdFiles))
      }
      .recoverWith { case EntityStreamSizeException(limit, _) =>
        Future.failed(StreamMaxLengthExceededException(limit))
      }

  /** A part that the endpoint asks for; any other is read and dropped. */
  private def part(
      part: Multipart.FormData.BodyPart,
      types: RawBodyType.MultipartBody
  ): Future[Option[(Part[Any], RawValue[?])]] =
    types.partType(part.name) match
      case None => part.entity.dataBytes.runWith(Sink.ignore).map(_ => None)
      case Some(bodyType) =>
        PekkoRequestBody.read(part.entity.dataBytes, bodyType).map { raw =>
          val headers = part.headers.map(header => Header(header.name, header.value)) :+
            Header.contentType(sttp.model.MediaType.unsafeParse(part.entity.contentType.toString))
          val params = part.dispositionParams - Part.NameDispositionParam
          Some((Part(part.name, raw.value, params, headers), raw))
        }

  private def entity(request: ServerRequest): RequestEntity =
    request.underlying.asInstanceOf[HttpRequest].entity
