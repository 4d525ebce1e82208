package bakeoff.bootzooka

import scala.concurrent.{ExecutionContext, Future}

/** How a registration ended. */
enum Outcome:
  case Registered
  case Invalid
  case Refused(taken: Taken)

/** Registers users. Passwords are hashed on the executor. */
class Registrations(users: Users)(using ExecutionContext):
  import Outcome.*

  def register(registration: Registration): Future[Outcome] =
    registration.valid match
      case None => Future.successful(Invalid)
      case Some(valid) =>
        users.taken(valid).flatMap:
          case Some(taken) => Future.successful(Refused(taken))
          case None => users.add(User.from(valid)).map(_.fold(Registered)(Refused(_)))
