package bakeoff.bootzooka

import com.github.plokhotnyuk.jsoniter_scala.core.JsonValueCodec
import com.github.plokhotnyuk.jsoniter_scala.macros.JsonCodecMaker
import sttp.model.StatusCode
import sttp.shared.Identity
import sttp.tapir.*
import sttp.tapir.json.jsoniter.*
import sttp.tapir.server.ServerEndpoint

/** What every answer but the page is. */
case class Message(message: String) derives Schema

object Message:
  given JsonValueCodec[Message] = JsonCodecMaker.make

object RegistrationJson:
  given JsonValueCodec[Registration] = JsonCodecMaker.make
  given Schema[Registration] = Schema.derived

/** The endpoints of the service and what they do. */
class Api(users: Users):
  import RegistrationJson.given

  private type Failure = (StatusCode, Message)

  val endpoints: List[ServerEndpoint[Any, Identity]] = List(
    endpoint.get.in("").out(htmlBodyUtf8).handleSuccess(_ => Api.Page),
    endpoint.post
      .in("api" / "users" / "register")
      .in(jsonBody[Registration])
      .errorOut(statusCode.and(jsonBody[Message]))
      .out(jsonBody[Message])
      .handle(register)
  )

  private def register(registration: Registration): Either[Failure, Message] =
    registration.valid match
      case None =>
        Left(StatusCode.BadRequest -> Message("the login, e-mail address or password is invalid"))
      case Some(valid) =>
        users.taken(valid).orElse(users.add(User.from(valid))) match
          case Some(taken) => Left(StatusCode.Conflict -> Message(taken.message))
          case None => Right(Message("success"))

object Api:
  private val Page =
    "<!doctype html><html lang=\"en\"><head><title>Bootzooka</title></head><body><h1>Welcome</h1></body></html>\n"
