package bakeoff.bootzooka

import java.util.Properties

import scala.annotation.tailrec
import scala.concurrent.Await
import scala.concurrent.duration._
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import akka.actor.ActorSystem
import akka.http.scaladsl.Http
import akka.stream.ActorMaterializer
import org.slf4j.LoggerFactory

/** Starts, serves, stops. */
object Main {
  private val Host = "0.0.0.0"
  private val Port = 8080
  private val DatabaseLimit = 5.seconds
  private val BindLimit = 5.seconds
  private val StopLimit = 10.seconds
  private val log = LoggerFactory.getLogger("Main")

  def main(arguments: Array[String]): Unit =
    if (arguments.sameElements(Array("--version"))) println(receipt)
    else
      try serve(Config.from(sys.env))
      catch {
        case NonFatal(e) =>
          System.err.println(s"cannot start: $e")
          // The pool's threads would keep the process alive.
          sys.exit(1)
      }

  private def serve(config: Config): Unit = {
    implicit val system = ActorSystem("bootzooka")
    implicit val materializer = ActorMaterializer()
    import system.dispatcher

    val users = Users.connect(config)
    await(users, DatabaseLimit.fromNow)
    val api = new Api(new Registrations(users))
    val binding = Await.result(Http().bindAndHandle(api.route, Host, Port), BindLimit)
    log.info(s"listening on $Host:$Port")
    sys.addShutdownHook {
      Await.result(binding.unbind(), StopLimit)
      Await.result(system.terminate(), StopLimit)
      users.close()
    }
  }

  /** The first connection may take longer than the pool waits for one: nothing is compiled yet. */
  @tailrec private def await(users: Users, until: Deadline): Unit =
    Try(Await.result(users.ping(), until.timeLeft)) match {
      case Success(()) =>
      case Failure(e) if until.isOverdue => throw e
      case Failure(_) => await(users, until)
    }

  private def receipt: String = {
    val versions = new Properties
    versions.load(getClass.getResourceAsStream("/version.properties"))
    def version(of: String) = versions.getProperty(of)
    s"${version("name")}: akka-http ${version("akka-http")}, Slick ${version("slick")}," +
      s" PostgreSQL driver ${version("driver")}, Scala ${util.Properties.versionNumberString}," +
      s" Java ${sys.props("java.version")}"
  }
}
