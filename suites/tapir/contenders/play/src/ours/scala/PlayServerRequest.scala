package bakeoff.tapir

import org.apache.pekko.stream.scaladsl.Source
import org.apache.pekko.util.ByteString
import play.api.mvc.RequestHeader
import play.utils.UriEncoding
import sttp.model.{Header, Method, QueryParams, Uri}
import sttp.tapir.model.{ConnectionInfo, ServerRequest}
import sttp.tapir.{AttributeKey, AttributeMap}

import java.net.InetSocketAddress

/** A request of Play as Tapir sees it, with its body beside it. */
final class PlayServerRequest(
    val header: RequestHeader,
    val body: Source[ByteString, Any],
    attributes: AttributeMap = AttributeMap.Empty
) extends ServerRequest:
  override def protocol: String = header.version

  override lazy val connectionInfo: ConnectionInfo =
    val remote = InetSocketAddress(header.connection.remoteAddress, 0)
    ConnectionInfo(None, Some(remote), Some(header.secure))

  override def underlying: Any = header

  override lazy val pathSegments: List[String] = PlayServerRequest.segments(header.path)

  override lazy val queryParameters: QueryParams = QueryParams.fromMultiMap(header.queryString)

  override lazy val method: Method = Method(header.method.toUpperCase)

  override lazy val uri: Uri = Uri.unsafeParse(header.uri)

  override lazy val headers: Seq[Header] =
    header.headers.headers.map((name, value) => Header(name, value))

  override def attribute[T](key: AttributeKey[T]): Option[T] = attributes.get(key)

  override def attribute[T](key: AttributeKey[T], value: T): PlayServerRequest =
    PlayServerRequest(header, body, attributes.put(key, value))

  override def withUnderlying(underlying: Any): ServerRequest =
    PlayServerRequest(underlying.asInstanceOf[RequestHeader], body, attributes)

object PlayServerRequest:
  /** `/a/b` is two segments, `/` none, and a slash at the end is an empty one. */
  def segments(path: String): List[String] =
    val text = path.stripPrefix("/")
    if text.isEmpty then Nil
    else text.split("/", -1).toList.map(segment => UriEncoding.decodePathSegment(segment, "UTF-8"))
