package bakeoff.bootzooka

import java.net.InetSocketAddress
import java.util.Properties

import scala.annotation.tailrec
import scala.concurrent.Await
import scala.concurrent.ExecutionContext.Implicits.global
import scala.concurrent.duration._
import scala.util.control.NonFatal
import scala.util.{Failure, Success, Try}

import org.eclipse.jetty.server.handler.{HandlerCollection, RequestLogHandler}
import org.eclipse.jetty.server.{Server, Slf4jRequestLog}
import org.eclipse.jetty.servlet.{ServletContextHandler, ServletHolder}
import org.slf4j.LoggerFactory

/** Starts, serves, stops. */
object Main {
  private val Host = "0.0.0.0"
  private val Port = 8080
  private val DatabaseLimit = 5.seconds
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
    val users = Users.connect(config)
    await(users, DatabaseLimit.fromNow)
    val server = jetty(new Api(new Registrations(users)))
    server.start()
    log.info(s"listening on $Host:$Port")
    sys.addShutdownHook {
      server.stop()
      users.close()
    }
  }

  private def jetty(api: Api): Server = {
    val context = new ServletContextHandler
    context.addServlet(new ServletHolder(api), "/*")
    val requestLog = new RequestLogHandler
    requestLog.setRequestLog(new Slf4jRequestLog)
    val handlers = new HandlerCollection
    handlers.addHandler(context)
    handlers.addHandler(requestLog)
    val server = new Server(new InetSocketAddress(Host, Port))
    server.setHandler(handlers)
    server.setStopTimeout(StopLimit.toMillis)
    server
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
    s"${version("name")}: Scalatra ${version("scalatra")}, Jetty ${version("jetty")}," +
      s" Slick ${version("slick")}, PostgreSQL driver ${version("driver")}," +
      s" Scala ${util.Properties.versionNumberString}, Java ${sys.props("java.version")}"
  }
}
