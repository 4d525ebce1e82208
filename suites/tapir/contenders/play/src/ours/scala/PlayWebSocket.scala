package bakeoff.tapir

import org.apache.pekko.stream.scaladsl.Flow
import org.apache.pekko.util.ByteString
import play.api.http.websocket.*
import sttp.tapir.model.WebSocketFrameDecodeFailure
import sttp.tapir.{DecodeResult, WebSocketBodyOutput}
import sttp.ws.WebSocketFrame

/** Web sockets. Play answers pings and puts fragments together itself. */
object PlayWebSocket:
  def flow[REQ, RESP](
      pipe: Flow[REQ, RESP, Any],
      output: WebSocketBodyOutput[Flow[REQ, RESP, Any], REQ, RESP, ?, PekkoStreams]
  ): Flow[Message, Message, Any] =
    Flow[Message]
      .takeWhile(message => output.decodeCloseRequests || !message.isInstanceOf[CloseMessage])
      .collect {
        case TextMessage(text)                          => WebSocketFrame.text(text)
        case BinaryMessage(bytes)                       => WebSocketFrame.binary(bytes.toArray)
        case PingMessage(bytes)                         => WebSocketFrame.Ping(bytes.toArray)
        case PongMessage(bytes) if !output.ignorePong   => WebSocketFrame.Pong(bytes.toArray)
        case CloseMessage(status, reason)               =>
          WebSocketFrame.Close(status.getOrElse(CloseCodes.Regular), reason)
      }
      .map { received =>
        output.requests.decode(received) match
          case DecodeResult.Value(request) => request
          case failure: DecodeResult.Failure =>
            throw WebSocketFrameDecodeFailure(received, failure)
      }
      .via(pipe)
      .map(response => message(output.responses.encode(response)))

  private def message(frame: WebSocketFrame): Message =
    frame match
      case WebSocketFrame.Text(text, _, _)      => TextMessage(text)
      case WebSocketFrame.Binary(bytes, _, _)   => BinaryMessage(ByteString(bytes))
      case WebSocketFrame.Ping(bytes)           => PingMessage(ByteString(bytes))
      case WebSocketFrame.Pong(bytes)           => PongMessage(ByteString(bytes))
      case WebSocketFrame.Close(status, reason) => CloseMessage(Some(status), reason)
