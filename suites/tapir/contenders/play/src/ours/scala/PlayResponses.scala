package bakeoff.tapir

import org.apache.pekko.Done
import org.apache.pekko.stream.scaladsl.{FileIO, Flow, Source, StreamConverters}
import org.apache.pekko.util.ByteString
import play.api.http.HttpEntity
import play.api.http.websocket.Message
import play.api.mvc.{ResponseHeader, Result}
import sttp.model.{HasHeaders, HeaderNames}
import sttp.tapir.server.interpreter.{BodyListener, ToResponseBody}
import sttp.tapir.server.model.ServerResponse
import sttp.tapir.{CodecFormat, RangeValue, RawBodyType, WebSocketBodyOutput}

import java.nio.charset.Charset
import scala.concurrent.{ExecutionContext, Future}
import scala.util.{Failure, Success, Try}

/** An answer: a web socket, or a body. */
type PlayBody = Either[Flow[Message, Message, Any], HttpEntity]

/** Makes Play's entities of what endpoints answer. */
final class PlayToResponseBody extends ToResponseBody[PlayBody, PekkoStreams]:
  private val ChunkSize = 8192

  override val streams: PekkoStreams = PekkoStreams

  override def fromRawValue[R](
      value: R,
      headers: HasHeaders,
      format: CodecFormat,
      bodyType: RawBodyType[R]
  ): PlayBody = Right(entity(value, contentType(headers, format), bodyType))

  override def fromStreamValue(
      value: Source[ByteString, Any],
      headers: HasHeaders,
      format: CodecFormat,
      charset: Option[Charset]
  ): PlayBody =
    Right(HttpEntity.Streamed(value, headers.contentLength, contentType(headers, format)))

  override def fromWebSocketPipe[REQ, RESP](
      pipe: Flow[REQ, RESP, Any],
      output: WebSocketBodyOutput[Flow[REQ, RESP, Any], REQ, RESP, ?, PekkoStreams]
  ): PlayBody = Left(PlayWebSocket.flow(pipe, output))

  private def entity[R](
      value: R,
      as: Option[String],
      bodyType: RawBodyType[R]
  ): HttpEntity =
    bodyType match
      case RawBodyType.StringBody(charset) => HttpEntity.Strict(ByteString(value, charset), as)
      case RawBodyType.ByteArrayBody  => HttpEntity.Strict(ByteString.fromArrayUnsafe(value), as)
      case RawBodyType.ByteBufferBody => HttpEntity.Strict(ByteString(value), as)
      case RawBodyType.InputStreamBody =>
        HttpEntity.Streamed(StreamConverters.fromInputStream(() => value), None, as)
      case RawBodyType.InputStreamRangeBody =>
        val all = StreamConverters.fromInputStream(value.inputStreamFromRangeStart)
        ranged(all, value.range, as)
      case RawBodyType.FileBody =>
        val path = value.file.toPath
        value.range.flatMap(_.startAndEnd) match
          case Some((start, _)) => ranged(FileIO.fromPath(path, ChunkSize, start), value.range, as)
          case None => HttpEntity.Streamed(FileIO.fromPath(path), Some(value.file.length), as)
      case _: RawBodyType.MultipartBody =>
        throw UnsupportedOperationException("Play does not answer with multipart bodies")

  private def ranged(
      fromStart: Source[ByteString, Any],
      range: Option[RangeValue],
      as: Option[String]
  ): HttpEntity =
    range.map(_.contentLength) match
      case Some(length) => HttpEntity.Streamed(first(length)(fromStart), Some(length), as)
      case None         => HttpEntity.Streamed(fromStart, None, as)

  private def first(bytes: Long)(source: Source[ByteString, Any]): Source[ByteString, Any] =
    source.statefulMapConcat { () =>
      var left = bytes
      chunk =>
        val taken = chunk.take(left.min(chunk.size.toLong).toInt)
        left -= taken.size
        if taken.isEmpty then Nil else List(taken)
    }

  private def contentType(headers: HasHeaders, format: CodecFormat): Option[String] =
    headers.contentType.orElse(Some(format.mediaType.toString))

/** Calls back when an answer has been sent. */
final class PlayBodyListener(using ExecutionContext) extends BodyListener[Future, PlayBody]:
  override def onComplete(body: PlayBody)(callback: Try[Unit] => Future[Unit]): Future[PlayBody] =
    def watch[A]: Flow[A, A, Any] =
      Flow[A].watchTermination() { (_, done: Future[Done]) =>
        done.onComplete {
          case Success(_)     => callback(Success(()))
          case Failure(cause) => callback(Failure(cause))
        }
      }
    body match
      case Left(flow) => Future.successful(Left(flow.via(watch)))
      case Right(HttpEntity.Streamed(data, length, as)) =>
        Future.successful(Right(HttpEntity.Streamed(data.via(watch), length, as)))
      case Right(HttpEntity.Chunked(chunks, as)) =>
        Future.successful(Right(HttpEntity.Chunked(chunks.via(watch), as)))
      case Right(_: HttpEntity.Strict) => callback(Success(())).map(_ => body)

object PlayResponses:
  private val ofEntity = Set(HeaderNames.ContentType, HeaderNames.ContentLength).map(_.toLowerCase)

  /** The response without a web socket. Play keeps one value for each name: several are joined. */
  def result(response: ServerResponse[PlayBody], entity: HttpEntity): Result =
    val headers = response.headers
      .filterNot(header => ofEntity(header.name.toLowerCase))
      .groupMapReduce(_.name)(_.value)((one, other) => s"$one, $other")
    Result(ResponseHeader(response.code.code, headers), entity)
