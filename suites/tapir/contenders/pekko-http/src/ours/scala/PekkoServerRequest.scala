package bakeoff.tapir

import org.apache.pekko.http.scaladsl.model.Uri.Path
import org.apache.pekko.http.scaladsl.model.{AttributeKeys, HttpRequest}
import sttp.model.{Header, HeaderNames, Method, QueryParams, Uri}
import sttp.tapir.model.{ConnectionInfo, ServerRequest}
import sttp.tapir.{AttributeKey, AttributeMap}

import scala.annotation.tailrec

/** A request of pekko-http as Tapir sees it. */
final class PekkoServerRequest(
    val request: HttpRequest,
    attributes: AttributeMap = AttributeMap.Empty
) extends ServerRequest:
  override def protocol: String = request.protocol.value

  override lazy val connectionInfo: ConnectionInfo =
    val remote = request.attribute(AttributeKeys.remoteAddress).flatMap(_.toIP).map { ip =>
      java.net.InetSocketAddress(ip.ip, ip.port.getOrElse(0))
    }
    ConnectionInfo(None, remote, Some(request.uri.scheme == "https"))

  override def underlying: Any = request

  override lazy val pathSegments: List[String] = PekkoServerRequest.segments(request.uri.path)

  override lazy val queryParameters: QueryParams =
    QueryParams.fromSeq(request.uri.query().toSeq)

  override lazy val method: Method = Method(request.method.value.toUpperCase)

  override lazy val uri: Uri = Uri.unsafeParse(request.uri.toString)

  override lazy val headers: Seq[Header] =
    val ofEntity = Header(HeaderNames.ContentType, request.entity.contentType.toString) ::
      request.entity.contentLengthOption.toList
        .map(length => Header(HeaderNames.ContentLength, length.toString))
    ofEntity ++ request.headers.map(header => Header(header.name, header.value))

  override def attribute[T](key: AttributeKey[T]): Option[T] = attributes.get(key)

  override def attribute[T](key: AttributeKey[T], value: T): PekkoServerRequest =
    PekkoServerRequest(request, attributes.put(key, value))

  override def withUnderlying(underlying: Any): ServerRequest =
    PekkoServerRequest(underlying.asInstanceOf[HttpRequest], attributes)

object PekkoServerRequest:
  /** `/a/b` is two segments, `/` none, and a slash at the end is an empty one. */
  def segments(path: Path): List[String] =
    @tailrec
    def after(path: Path, reversed: List[String]): List[String] = path match
      case Path.Segment(head, Path.Slash(tail)) => after(tail, head :: reversed)
      case Path.Segment(head, _)                => (head :: reversed).reverse
      case Path.Slash(tail)                     => after(tail, "" :: reversed)
      case Path.Empty                           => ("" :: reversed).reverse
    path match
      case Path.Empty | Path.Slash(Path.Empty) => Nil
      case Path.Slash(tail)                    => after(tail, Nil)
      case other                               => after(other, Nil)
