package bakeoff.bootzooka

import java.util.Properties

import scala.concurrent.Await
import scala.concurrent.ExecutionContext
import scala.concurrent.duration.*
import scala.util.Using
import scala.util.control.NonFatal

import org.apache.pekko.actor.ActorSystem
import org.apache.pekko.http.scaladsl.Http
import org.slf4j.LoggerFactory

/** Starts, serves, stops. */
object Main:
  private val Host = "0.0.0.0"
  private val Port = 8080
  private val StartLimit = 5.seconds
  private val StopLimit = 10.seconds
  private val log = LoggerFactory.getLogger("Main")

  def main(arguments: Array[String]): Unit =
    if arguments.sameElements(Array("--version")) then println(receipt)
    else
      try serve(Config.from(sys.env))
      catch
        case NonFatal(e) =>
          System.err.println(s"cannot start: $e")
          // The pool's threads would keep the process alive.
          sys.exit(1)

  private def serve(config: Config): Unit =
    given system: ActorSystem = ActorSystem("bootzooka")
    given ExecutionContext = system.dispatcher

    val users = Users.connect(config)
    Await.result(users.ping(), StartLimit)
    val api = Api(Registrations(users))
    val binding = Await.result(Http().newServerAt(Host, Port).bind(api.route), StartLimit)
    log.info(s"listening on $Host:$Port")
    sys.addShutdownHook:
      Await.result(binding.terminate(StopLimit), StopLimit + 1.second)
      Await.result(system.terminate(), StopLimit)
      users.close()

  private def receipt: String =
    val versions = Properties()
    Using.resource(getClass.getResourceAsStream("/version.properties"))(versions.load)
    def version(of: String) = versions.getProperty(of)
    s"${version("name")}: pekko-http ${version("pekko-http")}, Slick ${version("slick")}, HikariCP ${version("pool")}," +
      s" PostgreSQL driver ${version("driver")}, Scala ${version("scala")}," +
      s" Java ${sys.props("java.version")}"
