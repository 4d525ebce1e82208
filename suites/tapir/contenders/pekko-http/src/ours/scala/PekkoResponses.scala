package bakeoff.tapir

import org.apache.pekko.Done
import org.apache.pekko.http.scaladsl.model.*
import org.apache.pekko.http.scaladsl.model.headers.RawHeader
import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.{FileIO, Flow, Source, StreamConverters}
import org.apache.pekko.util.ByteString
import sttp.model.{HasHeaders, HeaderNames, Part}
import sttp.tapir.server.interpreter.{BodyListener, ToResponseBody}
import sttp.tapir.server.model.ServerResponse
import sttp.tapir.{CodecFormat, RangeValue, RawBodyType, WebSocketBodyOutput}

import java.nio.ByteBuffer
import java.nio.charset.Charset
import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Success, Try}

/** An answer: a web socket, or a body. */
type PekkoBody = Either[Flow[ws.Message, ws.Message, Any], ResponseEntity]

/** Makes pekko-http's entities of what endpoints answer. */
final class PekkoToResponseBody(using Materializer) extends ToResponseBody[PekkoBody, PekkoStreams]:
  private val ChunkSize = 8192

  override val streams: PekkoStreams = PekkoStreams

  override def fromRawValue[R](
      value: R,
      headers: HasHeaders,
      format: CodecFormat,
      bodyType: RawBodyType[R]
  ): PekkoBody = Right(entity(value, contentType(headers, format), bodyType))

  override def fromStreamValue(
      value: Source[ByteString, Any],
      headers: HasHeaders,
      format: CodecFormat,
      charset: Option[Charset]
  ): PekkoBody = Right(streamed(contentType(headers, format), headers.contentLength, value))

  override def fromWebSocketPipe[REQ, RESP](
      pipe: Flow[REQ, RESP, Any],
      output: WebSocketBodyOutput[Flow[REQ, RESP, Any], REQ, RESP, ?, PekkoStreams]
  ): PekkoBody = Left(PekkoWebSocket.flow(pipe, output))

  private def entity[R](value: R, as: ContentType, bodyType: RawBodyType[R]): ResponseEntity =
    bodyType match
      case RawBodyType.StringBody(charset) => HttpEntity(as, ByteString(value, charset))
      case RawBodyType.ByteArrayBody       => HttpEntity(as, ByteString.fromArrayUnsafe(value))
      case RawBodyType.ByteBufferBody      => HttpEntity(as, ByteString(value: ByteBuffer))
      case RawBodyType.InputStreamBody =>
        streamed(as, None, StreamConverters.fromInputStream(() => value))
      case RawBodyType.InputStreamRangeBody =>
        val all = StreamConverters.fromInputStream(value.inputStreamFromRangeStart)
        ranged(as, all, value.range)
      case RawBodyType.FileBody =>
        value.range.flatMap(_.startAndEnd) match
          case Some((start, _)) =>
            ranged(as, FileIO.fromPath(value.file.toPath, ChunkSize, start), value.range)
          case None => HttpEntity.fromFile(as, value.file)
      case parts: RawBodyType.MultipartBody =>
        Multipart.FormData(value.flatMap(part(_, parts))*).toEntity

  private def part[A](part: Part[A], types: RawBodyType.MultipartBody) =
    types.partType(part.name).map { bodyType =>
      val as = contentType(part, CodecFormat.OctetStream())
      val body = entity(part.body, as, bodyType.asInstanceOf[RawBodyType[A]]) match
        case universal: UniversalEntity => universal
        case other => HttpEntity.IndefiniteLength(other.contentType, other.dataBytes)
      Multipart.FormData.BodyPart(part.name, body, part.otherDispositionParams)
    }

  private def ranged(
      as: ContentType,
      fromStart: Source[ByteString, Any],
      range: Option[RangeValue]
  ): ResponseEntity =
    range.map(_.contentLength) match
      case Some(length) => streamed(as, Some(length), first(length)(fromStart))
      case None         => streamed(as, None, fromStart)

  private def first(bytes: Long)(source: Source[ByteString, Any]): Source[ByteString, Any] =
    source.statefulMapConcat { () =>
      var left = bytes
      chunk =>
        val taken = chunk.take(left.min(chunk.size.toLong).toInt)
        left -= taken.size
        if taken.isEmpty then Nil else List(taken)
    }

  private def streamed(
      as: ContentType,
      length: Option[Long],
      source: Source[ByteString, Any]
  ): ResponseEntity =
    length match
      case Some(0L)    => HttpEntity.empty(as)
      case Some(bytes) => HttpEntity.Default(as, bytes, source)
      case None        => HttpEntity.Chunked.fromData(as, source)

  private def contentType(headers: HasHeaders, format: CodecFormat): ContentType =
    val text = headers.contentType.getOrElse(format.mediaType.toString)
    ContentType
      .parse(text)
      .fold(_ => throw IllegalArgumentException(s"no content type: $text"), identity)

/** Calls back when an answer has been sent. */
final class PekkoBodyListener(using ExecutionContext) extends BodyListener[Future, PekkoBody]:
  override def onComplete(body: PekkoBody)(callback: Try[Unit] => Future[Unit]): Future[PekkoBody] =
    def watch[A]: Flow[A, A, Any] =
      Flow[A].watchTermination() { (_, done: Future[Done]) =>
        done.onComplete {
          case Success(_)     => callback(Success(()))
          case Failure(cause) => callback(Failure(cause))
        }
      }
    body match
      case Left(flow)                           => Future.successful(Left(flow.via(watch)))
      case Right(entity) if entity.isKnownEmpty => callback(Success(())).map(_ => body)
      case Right(entity) => Future.successful(Right(entity.transformDataBytes(watch[ByteString])))

object PekkoResponses:
  private val ofEntity = Set(HeaderNames.ContentType, HeaderNames.ContentLength).map(_.toLowerCase)

  def empty(response: ServerResponse[PekkoBody]): HttpResponse =
    val as = response.contentType.flatMap(ContentType.parse(_).toOption)
    plain(response, as.fold(HttpEntity.Empty)(HttpEntity.empty))

  /** The response with a body. */
  def plain(response: ServerResponse[PekkoBody], entity: ResponseEntity): HttpResponse =
    val status = StatusCodes.getForKey(response.code.code).getOrElse {
      StatusCodes.custom(response.code.code, "", "", false, true)
    }
    HttpResponse(status, headers(response), entity)

  def headers(response: ServerResponse[PekkoBody]): Seq[HttpHeader] =
    response.headers.collect {
      case header if !ofEntity(header.name.toLowerCase) =>
        HttpHeader.parse(header.name, header.value) match
          case HttpHeader.ParsingResult.Ok(parsed, _) => parsed
          case _                                      => RawHeader(header.name, header.value)
    }
