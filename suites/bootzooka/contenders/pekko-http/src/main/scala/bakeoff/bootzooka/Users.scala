package bakeoff.bootzooka

import java.sql.SQLException
import java.time.LocalDateTime
import java.util.UUID

import scala.concurrent.{ExecutionContext, Future}

import com.zaxxer.hikari.{HikariConfig, HikariDataSource}
import slick.jdbc.PostgresProfile.api.{Database => SlickDatabase, *}

/** Somebody else has it already. */
enum Taken(val message: String):
  case Login extends Taken("the login is already in use")
  case Email extends Taken("the e-mail address is already in use")

/** The table `users` in PostgreSQL. */
class Users(database: SlickDatabase)(using ExecutionContext):
  private val users = TableQuery[UserTable]

  /** Fails when the database does not answer. */
  def ping(): Future[Unit] = database.run(sql"SELECT 1".as[Int]).map(_ => ())

  /** Both look-ups are under way at once. */
  def taken(registration: Registration): Future[Option[Taken]] =
    val byLogin = database.run(users.filter(_.loginLowercase === registration.loginLowercase).result.headOption)
    val byEmail = database.run(users.filter(_.email === registration.email).result.headOption)
    for
      sameLogin <- byLogin
      sameEmail <- byEmail
    yield sameLogin.map(_ => Taken.Login).orElse(sameEmail.map(_ => Taken.Email))

  /** Who else has it, if two register at the same time. */
  def add(user: User): Future[Option[Taken]] =
    database.run(users += user).map(_ => None).recover:
      case e: SQLException if e.getSQLState == Users.UniqueViolation =>
        Some(if e.getMessage.contains("users_email") then Taken.Email else Taken.Login)

  def close(): Unit = database.close()

object Users:
  private val UniqueViolation = "23505"

  /** As many threads as connections, as Slick advises; work waits for them without a bound. */
  def connect(config: Config)(using ExecutionContext): Users =
    val settings = HikariConfig()
    settings.setJdbcUrl(config.database.url)
    settings.setUsername(config.database.user)
    settings.setPassword(config.database.password)
    settings.setMaximumPoolSize(config.pool.connections)
    settings.setConnectionTimeout(config.pool.waitMillis)
    val connections = config.pool.connections
    val threads = AsyncExecutor("users", numThreads = connections, queueSize = -1)
    Users(SlickDatabase.forDataSource(HikariDataSource(settings), Some(connections), threads))

private class UserTable(tag: Tag) extends Table[User](tag, "users"):
  def id = column[UUID]("id", O.PrimaryKey)
  def login = column[String]("login")
  def loginLowercase = column[String]("login_lowercase")
  def email = column[String]("email")
  def password = column[String]("password")
  def salt = column[String]("salt")
  def createdOn = column[LocalDateTime]("created_on")

  def * = (id, login, loginLowercase, email, password, salt, createdOn).mapTo[User]
