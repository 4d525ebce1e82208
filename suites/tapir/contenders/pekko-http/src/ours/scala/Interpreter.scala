package bakeoff.tapir

import org.apache.pekko.http.scaladsl.model.AttributeKeys
import org.apache.pekko.http.scaladsl.server.{ExpectedWebSocketRequestRejection, Route}
import org.apache.pekko.stream.Materializer
import sttp.capabilities.WebSockets
import sttp.monad.{FutureMonad, MonadError}
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.interceptor.log.ServerLog
import sttp.tapir.server.interceptor.{CustomiseInterceptors, Interceptor, RequestResult}
import sttp.tapir.server.interpreter.{BodyListener, FilterServerEndpoints, ServerInterpreter}
import sttp.tapir.server.model.ServerResponse

import java.nio.file.Files
import scala.concurrent.{ExecutionContext, Future, blocking}

/** Our interpreter: Tapir's endpoints as a route of pekko-http. It stands in where
  * `tapir-pekko-http-server` is not published; figures of it say nothing about that one.
  */
object Interpreter:
  type Streams = PekkoStreams
  val Streams: PekkoStreams = PekkoStreams

  def route(
      endpoints: List[ServerEndpoint[PekkoStreams & WebSockets, Future]],
      log: Option[ServerLog[Future]]
  )(using materializer: Materializer, executor: ExecutionContext): Route =
    given MonadError[Future] = FutureMonad()
    given BodyListener[Future, PekkoBody] = PekkoBodyListener()
    val interceptors =
      CustomiseInterceptors[Future, List[Interceptor[Future]]](_.interceptors)
        .serverLog(log)
        .options
    val interpreter = ServerInterpreter[PekkoStreams & WebSockets, Future, PekkoBody, PekkoStreams](
      FilterServerEndpoints(endpoints),
      PekkoRequestBody(PekkoReceiving()),
      PekkoToResponseBody(),
      interceptors,
      file => Future(blocking { Files.deleteIfExists(file.toPath); () })
    )
    context =>
      interpreter(PekkoServerRequest(context.request)).flatMap {
        case RequestResult.Failure(_)         => context.reject()
        case RequestResult.Response(response) => answered(response)(context)
      }

  private def answered(response: ServerResponse[PekkoBody]): Route = context =>
    response.body match
      case None                => context.complete(PekkoResponses.empty(response))
      case Some(Right(entity)) => context.complete(PekkoResponses.plain(response, entity))
      case Some(Left(flow)) =>
        context.request.attribute(AttributeKeys.webSocketUpgrade) match
          case Some(upgrade) =>
            val handled = upgrade.handleMessages(flow)
            context.complete(handled.mapHeaders(_ ++ PekkoResponses.headers(response)))
          case None => context.reject(ExpectedWebSocketRequestRejection)
