package bakeoff.bootzooka

import java.net.URI

import scala.util.Try

/** The environment, read once at the start. */
case class Config(database: Database, pool: Pool)

/** Where PostgreSQL is, from `DATABASE_URL=postgres://user:password@host:port/database`. */
case class Database(url: String, user: String, password: String)

/** How the database is shared: the most connections open at once, and how long a request waits for one. */
case class Pool(connections: Int, waitMillis: Long)

/** What is wrong with the environment. */
class ConfigError(message: String) extends Exception(message)

object Config:
  def from(environment: Map[String, String]): Config =
    def number(name: String, default: Int): Int =
      environment.get(name).fold(default): text =>
        text.toIntOption.getOrElse(throw ConfigError(s"$name is not a number: $text"))
    val url = environment.getOrElse("DATABASE_URL", throw ConfigError("DATABASE_URL is not set"))
    Config(database(url), Pool(number("POOL_SIZE", 16), number("POOL_WAIT_MS", 30000)))

  private def database(url: String): Database =
    val parts =
      for
        uri <- Try(URI(url)).toOption
        if uri.getScheme == "postgres" && uri.getHost != null && uri.getPort != -1 && uri.getPath.length > 1
        user <- Option(uri.getUserInfo).map(_.split(":", 2)) if user.length == 2
      yield Database(s"jdbc:postgresql://${uri.getHost}:${uri.getPort}${uri.getPath}", user(0), user(1))
    parts.getOrElse(throw ConfigError("DATABASE_URL is not postgres://user:password@host:port/database"))
