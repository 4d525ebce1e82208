package bakeoff.tapir

import org.slf4j.LoggerFactory
import sttp.monad.MonadError
import sttp.tapir.*
import sttp.tapir.json.jsoniter.*
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.interceptor.log.DefaultServerLog
import sttp.tapir.server.model.EndpointExtensions.*

/** The endpoints as Tapir describes them, for any server. Their logic takes no task of its own, as
  * that of the vanilla routes takes none: the response is there at once.
  */
final class Endpoints[F[_]](using monad: MonadError[F]):
  private given Schema[Item] = Schema.derived
  private given Schema[Order] = Schema.derived

  def all(numbers: List[Int]): List[ServerEndpoint[Any, F]] = numbers.flatMap(ofNumber)

  private def ofNumber(n: Int): List[ServerEndpoint[Any, F]] = List(
    endpoint.get
      .in(s"path$n" / path[Int]("id"))
      .out(stringBody)
      .serverLogicSuccess[F](id => monad.unit(Answers.get(n, id))),
    post(s"path$n", stringBody)(Answers.string(n, _)),
    post(s"pathBytes$n", byteArrayBody)(Answers.bytes(n, _)),
    post(s"pathFile$n", fileBody)(Answers.file(n, _)),
    post(s"pathJson$n", jsonBody[Order])(Answers.json(n, _))
  )

  private def post[A](at: String, body: EndpointIO.Body[?, A])(answer: A => String) =
    endpoint.post
      .in(at)
      .in(body)
      .maxRequestBodyLength(Settings.BodyLimit)
      .out(stringBody)
      .serverLogicSuccess[F](value => monad.unit(answer(value)))

object Endpoints:
  private val logger = LoggerFactory.getLogger("bakeoff.requests")

  /** Tapir's server log, none unless it is asked for. As it ships for every server, it makes a line
    * for each request that was handled and gives it to the logger at level debug, and the logger
    * drops it unless `LOG_LEVEL` says otherwise.
    */
  def serverLog[F[_]](kind: Kind)(using monad: MonadError[F]): Option[DefaultServerLog[F]] =
    Option.when(kind == Kind.TapirInterceptor)(
      DefaultServerLog[F](
        doLogWhenReceived = message => monad.eval(logger.debug(message)),
        doLogWhenHandled = (message, cause) => monad.eval(logger.debug(message, cause.orNull)),
        doLogAllDecodeFailures = (message, cause) =>
          monad.eval(logger.debug(message, cause.orNull)),
        doLogExceptions = (message, cause) => monad.eval(logger.error(message, cause)),
        noLog = monad.unit(())
      )
    )
