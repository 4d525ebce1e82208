package bakeoff.bootzooka

import java.util.Properties

import scala.util.Using
import scala.util.control.NonFatal

import com.zaxxer.hikari.{HikariConfig, HikariDataSource}
import org.slf4j.LoggerFactory
import ox.{never, supervised}
import sttp.tapir.server.netty.sync.NettySyncServer
import sttp.tapir.server.netty.{NettyConfig, NettySocketConfig}

/** Starts, serves, stops. */
object Main:
  private val Host = "0.0.0.0"
  private val Port = 8080
  private val log = LoggerFactory.getLogger("Main")

  def main(arguments: Array[String]): Unit =
    if arguments.sameElements(Array("--version")) then println(receipt)
    else
      try serve(Config.from(sys.env))
      catch
        case NonFatal(e) =>
          System.err.println(s"cannot start: $e")
          sys.exit(1)

  private def serve(config: Config): Unit =
    // Fails when the database does not answer.
    val pool = HikariDataSource(settings(config))
    supervised:
      val server = NettySyncServer(Server.options, network).host(Host).port(Port)
      val binding = server.addEndpoints(Api(Users(pool)).endpoints).start()
      log.info(s"listening on ${binding.hostName}:${binding.port}")
      sys.addShutdownHook:
        binding.stop()
        pool.close()
      never

  private def network: NettyConfig =
    NettyConfig.default.socketConfig(NettySocketConfig.default.withReuseAddress)

  private def settings(config: Config): HikariConfig =
    val settings = HikariConfig()
    settings.setJdbcUrl(config.database.url)
    settings.setUsername(config.database.user)
    settings.setPassword(config.database.password)
    settings.setMaximumPoolSize(config.pool.connections)
    settings.setConnectionTimeout(config.pool.waitMillis)
    settings

  private def receipt: String =
    val versions = Properties()
    Using.resource(getClass.getResourceAsStream("/version.properties"))(versions.load)
    def version(of: String) = versions.getProperty(of)
    s"${version("name")}: Tapir ${version("tapir")} on Netty, HikariCP ${version("pool")}," +
      s" PostgreSQL driver ${version("driver")}, Scala ${version("scala")}," +
      s" Java ${sys.props("java.version")}"
