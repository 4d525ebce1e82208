package bakeoff.bootzooka

import java.sql.SQLException
import java.util.concurrent.RejectedExecutionException

import scala.concurrent.{ExecutionContext, Future}

import org.json4s.{DefaultFormats, Formats}
import org.scalatra._
import org.scalatra.json.JacksonJsonSupport
import org.slf4j.LoggerFactory

/** What every answer but the page is. */
case class Message(message: String)

/** The routes of the service. */
class Api(registrations: Registrations)(implicit protected val executor: ExecutionContext)
    extends ScalatraServlet
    with JacksonJsonSupport
    with FutureSupport {
  private val log = LoggerFactory.getLogger("Http")

  protected implicit val jsonFormats: Formats = DefaultFormats

  get("/") {
    contentType = "text/html;charset=UTF-8"
    Api.Page
  }

  post("/api/users/register") {
    contentType = formats("json")
    parsedBody.extractOpt[Registration] match {
      case None => BadRequest(Message("the body is not a registration"))
      case Some(registration) =>
        new AsyncResult {
          val is: Future[ActionResult] = registrations.register(registration).map(answer).recover {
            case e @ (_: SQLException | _: RejectedExecutionException) =>
              log.error("the database did not do what was asked", e)
              ServiceUnavailable(Message("the database does not answer"))
          }
        }
    }
  }

  private def answer(outcome: Outcome): ActionResult =
    outcome match {
      case Registered => Ok(Message("success"))
      case Invalid => BadRequest(Message("the login, e-mail address or password is invalid"))
      case Refused(taken) => Conflict(Message(taken.message))
    }

  notFound {
    contentType = formats("json")
    NotFound(Message("there is nothing here"))
  }

  error {
    case e: Exception =>
      log.error("a request failed", e)
      contentType = formats("json")
      InternalServerError(Message("something went wrong"))
  }
}

object Api {
  val Page =
    "<!doctype html><html lang=\"en\"><head><title>Bootzooka</title></head><body><h1>Welcome</h1></body></html>\n"
}
