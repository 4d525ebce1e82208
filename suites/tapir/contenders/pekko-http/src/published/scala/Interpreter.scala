package bakeoff.tapir

import org.apache.pekko.http.scaladsl.server.Route
import org.apache.pekko.stream.Materializer
import sttp.capabilities.WebSockets
import sttp.capabilities.pekko.PekkoStreams
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.interceptor.log.ServerLog
import sttp.tapir.server.pekkohttp.{PekkoHttpServerInterpreter, PekkoHttpServerOptions}

import scala.concurrent.{ExecutionContext, Future}

/** Tapir's own interpreter, from `tapir-pekko-http-server`. */
object Interpreter:
  type Streams = PekkoStreams
  val Streams: PekkoStreams = PekkoStreams

  def route(
      endpoints: List[ServerEndpoint[PekkoStreams & WebSockets, Future]],
      log: Option[ServerLog[Future]]
  )(using materializer: Materializer, executor: ExecutionContext): Route =
    val options = PekkoHttpServerOptions.customiseInterceptors.serverLog(log).options
    PekkoHttpServerInterpreter(options).toRoute(endpoints)
