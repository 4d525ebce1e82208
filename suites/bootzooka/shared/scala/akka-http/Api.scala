package bakeoff.bootzooka

import java.sql.SQLException
import java.util.concurrent.RejectedExecutionException

import akka.http.scaladsl.marshallers.sprayjson.SprayJsonSupport._
import akka.http.scaladsl.model.StatusCodes._
import akka.http.scaladsl.model.{HttpEntity, MediaTypes, HttpCharsets, StatusCode}
import akka.http.scaladsl.server.Directives._
import akka.http.scaladsl.server.{Directive0, ExceptionHandler, MalformedRequestContentRejection, RejectionHandler, Route}
import org.slf4j.LoggerFactory
import spray.json.DefaultJsonProtocol._
import spray.json.RootJsonFormat

/** What every answer but the page is. */
case class Message(message: String)

/** The routes of the service. */
class Api(registrations: Registrations) {
  private val log = LoggerFactory.getLogger("Http")

  private implicit val registrationFormat: RootJsonFormat[Registration] = jsonFormat3(Registration.apply)
  private implicit val messageFormat: RootJsonFormat[Message] = jsonFormat1(Message)

  private val page = HttpEntity(MediaTypes.`text/html` withCharset HttpCharsets.`UTF-8`, Api.Page)

  val route: Route =
    logged {
      handleExceptions(exceptions) {
        pathSingleSlash {
          get(complete(page))
        } ~
          path("api" / "users" / "register") {
            post {
              entity(as[Registration]) { registration =>
                onSuccess(registrations.register(registration)) {
                  case Registered => answer(OK, "success")
                  case Invalid => answer(BadRequest, "the login, e-mail address or password is invalid")
                  case Refused(taken) => answer(Conflict, taken.message)
                }
              }
            }
          }
      }
    }

  private def answer(status: StatusCode, message: String): Route = complete(status -> Message(message))

  /** One line for each request, whatever its answer. */
  private def logged: Directive0 =
    extractRequest.flatMap { request =>
      val start = System.nanoTime
      mapResponse { response =>
        val millis = (System.nanoTime - start) / 1000000
        log.info(s"${request.method.value} ${request.uri.path} ${response.status.intValue} $millis ms")
        response
      } & handleRejections(rejections)
    }

  private def rejections: RejectionHandler =
    RejectionHandler
      .newBuilder()
      .handle {
        case MalformedRequestContentRejection(_, _) => answer(BadRequest, "the body is not a registration")
      }
      .handleNotFound(answer(NotFound, "there is nothing here"))
      .result()
      .withFallback(RejectionHandler.default)

  private def exceptions: ExceptionHandler =
    ExceptionHandler {
      case e @ (_: SQLException | _: RejectedExecutionException) =>
        log.error("the database did not do what was asked", e)
        answer(ServiceUnavailable, "the database does not answer")
      case e: Exception =>
        log.error("a request failed", e)
        answer(InternalServerError, "something went wrong")
    }
}

object Api {
  val Page =
    "<!doctype html><html lang=\"en\"><head><title>Bootzooka</title></head><body><h1>Welcome</h1></body></html>\n"
}
