package bakeoff.bootzooka

import java.sql.SQLException

import org.apache.pekko.http.scaladsl.marshallers.sprayjson.SprayJsonSupport.*
import org.apache.pekko.http.scaladsl.model.StatusCodes.*
import org.apache.pekko.http.scaladsl.model.{ContentTypes, HttpEntity, StatusCode}
import org.apache.pekko.http.scaladsl.server.Directives.*
import org.apache.pekko.http.scaladsl.server.{
  Directive0,
  ExceptionHandler,
  MalformedRequestContentRejection,
  RejectionHandler,
  Route
}
import org.slf4j.LoggerFactory
import spray.json.DefaultJsonProtocol.*
import spray.json.RootJsonFormat

/** What every answer but the page is. */
case class Message(message: String)

/** The routes of the service. */
class Api(registrations: Registrations):
  private given RootJsonFormat[Registration] = jsonFormat3(Registration.apply)
  private given RootJsonFormat[Message] = jsonFormat1(Message.apply)

  private val page = HttpEntity(ContentTypes.`text/html(UTF-8)`, Api.Page)

  val route: Route =
    logged:
      handleExceptions(exceptions):
        concat(
          pathSingleSlash(get(complete(page))),
          path("api" / "users" / "register"):
            post:
              entity(as[Registration]): registration =>
                onSuccess(registrations.register(registration)):
                  case Outcome.Registered => answer(OK, "success")
                  case Outcome.Invalid =>
                    answer(BadRequest, "the login, e-mail address or password is invalid")
                  case Outcome.Refused(taken) => answer(Conflict, taken.message)
        )

  private def answer(status: StatusCode, message: String): Route = complete(status -> Message(message))

  /** One line for each request, whatever its answer. */
  private def logged: Directive0 =
    extractRequest.flatMap: request =>
      val start = System.nanoTime
      val log = mapResponse: response =>
        val millis = (System.nanoTime - start) / 1000000
        Api.log.info(s"${request.method.value} ${request.uri.path} ${response.status.intValue} $millis ms")
        response
      log & handleRejections(rejections)

  private def rejections: RejectionHandler =
    RejectionHandler
      .newBuilder()
      .handle { case MalformedRequestContentRejection(_, _) =>
        answer(BadRequest, "the body is not a registration")
      }
      .handleNotFound(answer(NotFound, "there is nothing here"))
      .result()
      .withFallback(RejectionHandler.default)

  private def exceptions: ExceptionHandler =
    ExceptionHandler:
      case e: SQLException =>
        Api.log.error("the database did not do what was asked", e)
        answer(ServiceUnavailable, "the database does not answer")
      case e: Exception =>
        Api.log.error("a request failed", e)
        answer(InternalServerError, "something went wrong")

object Api:
  private val log = LoggerFactory.getLogger("Http")
  private val Page =
    "<!doctype html><html lang=\"en\"><head><title>Bootzooka</title></head><body><h1>Welcome</h1></body></html>\n"
