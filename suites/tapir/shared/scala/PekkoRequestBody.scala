package bakeoff.tapir

import org.apache.pekko.stream.scaladsl.{FileIO, Sink, Source, StreamConverters}
import org.apache.pekko.stream.{IOOperationIncompleteException, Materializer}
import org.apache.pekko.stream.StreamLimitReachedException
import org.apache.pekko.util.ByteString
import sttp.capabilities.StreamMaxLengthExceededException
import sttp.tapir.model.ServerRequest
import sttp.tapir.server.interpreter.{RawValue, RequestBody}
import sttp.tapir.{FileRange, InputStreamRange, RawBodyType}

import java.io.{ByteArrayInputStream, InputStream}
import java.nio.file.Files
import scala.concurrent.Future

/** What differs between servers in how a body is received. */
trait Receiving:
  def body(request: ServerRequest): Source[ByteString, Any]

  /** The parts of a multipart body. */
  def parts(
      request: ServerRequest,
      types: RawBodyType.MultipartBody,
      maxBytes: Option[Long]
  ): Future[RawValue[Seq[sttp.model.Part[Any]]]]

/** Reads request bodies from Pekko's streams into every form that an endpoint can ask for. */
final class PekkoRequestBody(receiving: Receiving)(using materializer: Materializer)
    extends RequestBody[Future, PekkoStreams]:
  import materializer.executionContext

  override val streams: PekkoStreams = PekkoStreams

  override def toRaw[R](
      request: ServerRequest,
      bodyType: RawBodyType[R],
      maxBytes: Option[Long]
  ): Future[RawValue[R]] =
    bodyType match
      case parts: RawBodyType.MultipartBody =>
        receiving.parts(request, parts, maxBytes).asInstanceOf[Future[RawValue[R]]]
      case single =>
        PekkoRequestBody.read(toStream(request, maxBytes), single)

  override def toStream(request: ServerRequest, maxBytes: Option[Long]): Source[ByteString, Any] =
    PekkoRequestBody.limited(receiving.body(request), maxBytes)

object PekkoRequestBody:
  /** Fails with what Tapir answers with 413 when the stream is longer. */
  def limited(body: Source[ByteString, Any], maxBytes: Option[Long]): Source[ByteString, Any] =
    maxBytes.fold(body) { max =>
      body.limitWeighted(max)(_.size.toLong).mapError { case _: StreamLimitReachedException =>
        StreamMaxLengthExceededException(max)
      }
    }

  /** Reads a stream whole. */
  def read[R](body: Source[ByteString, Any], bodyType: RawBodyType[R])(using
      materializer: Materializer
  ): Future[RawValue[R]] =
    import materializer.executionContext
    def bytes: Future[ByteString] = body.runWith(Sink.fold(ByteString.empty)(_ ++ _))
    bodyType match
      case RawBodyType.StringBody(charset) => bytes.map(all => RawValue(all.decodeString(charset)))
      case RawBodyType.ByteArrayBody       => bytes.map(all => RawValue(all.toArray))
      case RawBodyType.ByteBufferBody      => bytes.map(all => RawValue(all.asByteBuffer))
      case RawBodyType.InputStreamBody =>
        Future.successful(RawValue(body.runWith(StreamConverters.asInputStream())))
      case RawBodyType.InputStreamRangeBody =>
        bytes.map(all => RawValue(InputStreamRange(() => stream(all))))
      case RawBodyType.FileBody => received(body).map(file => RawValue(file, Seq(file)))
      case _: RawBodyType.MultipartBody =>
        Future.failed(IllegalArgumentException("a multipart body inside another"))

  private def stream(all: ByteString): InputStream = ByteArrayInputStream(all.toArray)

  private def received(body: Source[ByteString, Any])(using
      materializer: Materializer
  ): Future[FileRange] =
    import materializer.executionContext
    Future(Files.createTempFile("tapir", ".tmp")).flatMap { path =>
      body
        .runWith(FileIO.toPath(path))
        .map(_ => FileRange(path.toFile))
        .recoverWith { case failure =>
          Files.deleteIfExists(path)
          Future.failed(failure match
            case incomplete: IOOperationIncompleteException => incomplete.getCause
            case other                                      => other
          )
        }
    }
