package bakeoff.tapir

import org.apache.pekko.stream.Materializer
import org.apache.pekko.stream.scaladsl.Source
import org.apache.pekko.util.ByteString
import play.api.BuiltInComponents
import play.api.http.HttpEntity
import play.api.http.websocket.Message
import play.api.libs.streams.Accumulator
import play.api.mvc.{EssentialAction, Handler, RequestHeader, Result, Results, WebSocket}
import play.api.routing.Router.Routes
import sttp.capabilities.WebSockets
import sttp.monad.{FutureMonad, MonadError}
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.interceptor.log.ServerLog
import sttp.tapir.server.interceptor.{CustomiseInterceptors, Interceptor, RequestResult}
import sttp.tapir.server.interpreter.{BodyListener, FilterServerEndpoints, ServerInterpreter}
import sttp.tapir.server.model.ServerResponse

import java.nio.file.Files
import scala.concurrent.{ExecutionContext, Future, blocking}

/** Our interpreter: Tapir's endpoints as routes of Play. It stands in where `tapir-play-server` is
  * not published; figures of it say nothing about that one.
  */
object Interpreter:
  type Streams = PekkoStreams
  val Streams: PekkoStreams = PekkoStreams

  private type Endpoint = ServerEndpoint[PekkoStreams & WebSockets, Future]

  def routes(
      endpoints: List[Endpoint],
      log: Option[ServerLog[Future]],
      components: BuiltInComponents
  ): Routes =
    given materializer: Materializer = components.materializer
    given ExecutionContext = components.executionContext
    given MonadError[Future] = FutureMonad()
    given BodyListener[Future, PlayBody] = PlayBodyListener()
    val candidates = FilterServerEndpoints(endpoints)
    val interceptors =
      CustomiseInterceptors[Future, List[Interceptor[Future]]](_.interceptors)
        .serverLog(log)
        .options
    val interpreter = ServerInterpreter[PekkoStreams & WebSockets, Future, PlayBody, PekkoStreams](
      candidates,
      PekkoRequestBody(PlayReceiving(components.playBodyParsers)),
      PlayToResponseBody(),
      interceptors,
      file => Future(blocking { Files.deleteIfExists(file.toPath); () })
    )
    PlayRoutes(candidates, interpreter)

/** Routes of Play that leave it to an interpreter to answer. */
private final class PlayRoutes(
    candidates: FilterServerEndpoints[PekkoStreams & WebSockets, Future],
    interpreter: ServerInterpreter[PekkoStreams & WebSockets, Future, PlayBody, PekkoStreams]
)(using ExecutionContext)
    extends PartialFunction[RequestHeader, Handler]:
  override def isDefinedAt(header: RequestHeader): Boolean =
    candidates(PlayServerRequest(header, Source.empty)).nonEmpty

  override def apply(header: RequestHeader): Handler =
    if header.headers.get("Upgrade").exists(_.equalsIgnoreCase("websocket")) then
      webSocket
    else EssentialAction(plain)

  private val webSocket: WebSocket = header =>
    answer(header, Source.empty).map {
      case Some(response) =>
        response.body match
          case Some(Left(flow)) => Right(flow)
          case _                => Left(result(response))
      case None => Left(Results.NotFound)
    }

  private def plain(header: RequestHeader): Accumulator[ByteString, Result] =
    def answered(body: Source[ByteString, Any]): Future[Result] =
      answer(header, body).map(_.fold(Results.NotFound: Result)(result))
    if header.hasBody then Accumulator.source[ByteString].mapFuture(answered)
    else Accumulator.done(answered(Source.empty))

  private def answer(
      header: RequestHeader,
      body: Source[ByteString, Any]
  ): Future[Option[ServerResponse[PlayBody]]] =
    interpreter(PlayServerRequest(header, body)).map {
      case RequestResult.Response(response) => Some(response)
      case RequestResult.Failure(_)         => None
    }

  private def result(response: ServerResponse[PlayBody]): Result =
    response.body match
      case Some(Right(entity)) => PlayResponses.result(response, entity)
      case Some(Left(_))       => Results.BadRequest("a web socket was expected")
      case None                => PlayResponses.result(response, HttpEntity.NoEntity)
