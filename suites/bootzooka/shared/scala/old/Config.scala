package bakeoff.bootzooka

import java.net.URI

import scala.util.Try

/** The environment, read once at the start. */
case class Config(database: Database, pool: Pool)

/** Where PostgreSQL is, from `DATABASE_URL=postgres://user:password@host:port/database`. */
case class Database(host: String, port: Int, name: String, user: String, password: String)

/** How the database is shared.
  *
  * @param connections the most that are open at once
  * @param threads     those that wait for the database
  * @param queue       work that may wait for a thread; without a bound when it is -1
  * @param waitMillis  how long a thread waits for a connection
  */
case class Pool(connections: Int, threads: Int, queue: Int, waitMillis: Long)

/** What is wrong with the environment. */
class ConfigError(message: String) extends Exception(message)

object Config {
  def from(environment: Map[String, String]): Config = {
    def number(name: String, default: Int): Int =
      environment.get(name) match {
        case None => default
        case Some(text) =>
          Try(text.toInt).getOrElse(throw new ConfigError(s"$name is not a number: $text"))
      }
    val connections = number("POOL_SIZE", 16)
    val url = environment.getOrElse("DATABASE_URL", throw new ConfigError("DATABASE_URL is not set"))
    Config(
      database(url),
      Pool(
        connections,
        number("POOL_THREADS", connections),
        number("POOL_QUEUE", -1),
        number("POOL_WAIT_MS", 30000).toLong
      )
    )
  }

  private def database(url: String): Database = {
    val parts = for {
      uri <- Try(new URI(url)).toOption
      if uri.getScheme == "postgres" && uri.getHost != null && uri.getPort != -1
      Array(user, password) <- Option(uri.getUserInfo).map(_.split(":", 2)) if uri.getPath.length > 1
    } yield Database(uri.getHost, uri.getPort, uri.getPath.drop(1), user, password)
    parts.getOrElse(
      throw new ConfigError("DATABASE_URL is not postgres://user:password@host:port/database")
    )
  }
}
