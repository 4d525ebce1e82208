package bakeoff.tapir

import org.apache.pekko.http.scaladsl.model.ws.{BinaryMessage, Message, TextMessage}
import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.{Flow, Sink}
import org.apache.pekko.util.ByteString
import sttp.tapir.model.WebSocketFrameDecodeFailure
import sttp.tapir.{DecodeResult, WebSocketBodyOutput}
import sttp.ws.WebSocketFrame

import scala.concurrent.Future

/** Web sockets. pekko-http answers pings and puts fragments together itself; the end of the stream
  * is the close frame.
  */
object PekkoWebSocket:
  def flow[REQ, RESP](
      pipe: Flow[REQ, RESP, Any],
      output: WebSocketBodyOutput[Flow[REQ, RESP, Any], REQ, RESP, ?, PekkoStreams]
  )(using Materializer): Flow[Message, Message, Any] =
    Flow[Message]
      .mapAsync(1)(frame)
      .map { received =>
        output.requests.decode(received) match
          case DecodeResult.Value(request) => request
          case failure: DecodeResult.Failure =>
            throw WebSocketFrameDecodeFailure(received, failure)
      }
      .via(pipe)
      .map(output.responses.encode)
      .takeWhile {
        case _: WebSocketFrame.Close => false
        case _                       => true
      }
      .collect {
        case WebSocketFrame.Text(text, _, _)    => TextMessage(text)
        case WebSocketFrame.Binary(bytes, _, _) => BinaryMessage(ByteString(bytes))
      }

  private def frame(message: Message)(using materializer: Materializer): Future[WebSocketFrame] =
    import materializer.executionContext
    message match
      case text: TextMessage =>
        text.textStream
          .runWith(Sink.fold(StringBuilder())(_ append _))
          .map(all => WebSocketFrame.text(all.toString))
      case binary: BinaryMessage =>
        binary.dataStream
          .runWith(Sink.fold(ByteString.empty)(_ ++ _))
          .map(all => WebSocketFrame.binary(all.toArray))
