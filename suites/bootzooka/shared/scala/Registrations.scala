package bakeoff.bootzooka

import java.util.Locale

import scala.concurrent.{ExecutionContext, Future}

/** How a registration ended. */
sealed trait Outcome
case object Registered extends Outcome
case object Invalid extends Outcome
case class Refused(taken: Taken) extends Outcome

/** Registers users. Passwords are hashed on the executor. */
class Registrations(users: Users)(implicit executor: ExecutionContext) {
  def register(registration: Registration): Future[Outcome] =
    registration.valid match {
      case None => Future.successful(Invalid)
      case Some(valid) =>
        users.taken(valid.login.toLowerCase(Locale.ROOT), valid.email).flatMap {
          case Some(taken) => Future.successful(Refused(taken))
          case None => users.add(User.from(valid)).map(_.fold[Outcome](Registered)(Refused))
        }
    }
}
