package bakeoff.bootzooka

import java.sql.SQLException

import org.slf4j.LoggerFactory
import sttp.model.StatusCode
import sttp.monad.MonadError
import sttp.shared.Identity
import sttp.tapir.json.jsoniter.*
import sttp.tapir.server.interceptor.exception.{ExceptionContext, ExceptionHandler}
import sttp.tapir.server.interceptor.log.DefaultServerLog
import sttp.tapir.server.model.ValuedEndpointOutput
import sttp.tapir.server.netty.sync.NettySyncServerOptions
import sttp.tapir.statusCode

/** How the server logs, and how it answers what it cannot serve. */
object Server:
  private val log = LoggerFactory.getLogger("Http")

  val options: NettySyncServerOptions =
    NettySyncServerOptions.customiseInterceptors
      .serverLog(requestLog)
      .defaultHandlers(message => ValuedEndpointOutput(jsonBody[Message], Message(message)), notFoundWhenRejected = true)
      .exceptionHandler(Failures)
      .options

  /** One line for each request, when it comes: Tapir logs no answer to a path that no endpoint has. */
  private def requestLog: DefaultServerLog[Identity] =
    DefaultServerLog[Identity](
      doLogWhenReceived = log.info(_),
      doLogWhenHandled = (message, e) => log.info(message, e.orNull),
      doLogAllDecodeFailures = (message, e) => log.info(message, e.orNull),
      doLogExceptions = (message, e) => log.error(message, e),
      noLog = (),
      logWhenReceived = true,
      logWhenHandled = false
    )

  private object Failures extends ExceptionHandler[Identity]:
    def apply(context: ExceptionContext)(using MonadError[Identity]): Identity[Option[ValuedEndpointOutput[?]]] =
      Some(context.e match
        case _: SQLException => answer(StatusCode.ServiceUnavailable, "the database does not answer")
        case _ => answer(StatusCode.InternalServerError, "something went wrong"))

  private def answer(status: StatusCode, message: String): ValuedEndpointOutput[?] =
    ValuedEndpointOutput(statusCode.and(jsonBody[Message]), status -> Message(message))
