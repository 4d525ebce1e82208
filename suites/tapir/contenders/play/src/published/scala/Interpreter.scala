package bakeoff.tapir

import org.apache.pekko.stream.Materializer
import play.api.BuiltInComponents
import play.api.routing.Router.Routes
import sttp.capabilities.WebSockets
import sttp.capabilities.pekko.PekkoStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.interceptor.log.ServerLog
import sttp.tapir.server.play.{PlayServerInterpreter, PlayServerOptions}

import scala.concurrent.{ExecutionContext, Future}

/** Tapir's own interpreter, from `tapir-play-server`. */
object Interpreter:
  type Streams = PekkoStreams
  val Streams: PekkoStreams = PekkoStreams

  def routes(
      endpoints: List[ServerEndpoint[PekkoStreams & WebSockets, Future]],
      log: Option[ServerLog[Future]],
      components: BuiltInComponents
  ): Routes =
    given Materializer = components.materializer
    given ExecutionContext = components.executionContext
    val options = PlayServerOptions.customiseInterceptors().serverLog(log).options
    PlayServerInterpreter(options).toRoutes(endpoints)
