package bakeoff.bootzooka

import java.sql.{SQLException, Timestamp}
import java.util.UUID

import scala.concurrent.{ExecutionContext, Future}

import com.typesafe.config.ConfigFactory
import slick.driver.PostgresDriver.api.{Database => SlickDatabase, _}

/** Another user has the login or the e-mail address already. */
sealed abstract class Taken(val message: String)
case object LoginTaken extends Taken("the login is already in use")
case object EmailTaken extends Taken("the e-mail address is already in use")

/** The table `users` in PostgreSQL, used as Bootzooka used it after its move: e-mail addresses are
  * looked up by `lower(email)`, which the index does not serve.
  */
class Users(database: SlickDatabase)(implicit executor: ExecutionContext) {
  private val users = TableQuery[UserTable]

  /** Fails when the database does not answer. */
  def ping(): Future[Unit] = database.run(sql"SELECT 1".as[Int]).map(_ => ())

  /** Both look-ups are under way at once. */
  def taken(login: String, email: String): Future[Option[Taken]] = {
    val byLogin = database.run(users.filter(_.loginLowercase === login).result.headOption)
    val byEmail = database.run(users.filter(_.email.toLowerCase === email).result.headOption)
    for {
      sameLogin <- byLogin
      sameEmail <- byEmail
    } yield sameLogin.map(_ => LoginTaken).orElse(sameEmail.map(_ => EmailTaken))
  }

  /** Who else has it, if two register at the same time. */
  def add(user: User): Future[Option[Taken]] =
    database.run(users += user).map(_ => None).recover {
      case e: SQLException if e.getSQLState == Users.UniqueViolation =>
        Some(if (e.getMessage.contains("users_email")) EmailTaken else LoginTaken)
    }

  def close(): Unit = database.close()
}

object Users {
  private val UniqueViolation = "23505"

  def connect(config: Config)(implicit executor: ExecutionContext): Users = {
    val settings = ConfigFactory.parseString(s"""
      dataSourceClass = org.postgresql.ds.PGSimpleDataSource
      maxConnections = ${config.pool.connections}
      numThreads = ${config.pool.threads}
      queueSize = ${config.pool.queue}
      connectionTimeout = ${config.pool.waitMillis}
      properties {
        serverName = "${config.database.host}"
        portNumber = ${config.database.port}
        databaseName = "${config.database.name}"
        user = "${config.database.user}"
        password = "${config.database.password}"
      }
    """)
    new Users(SlickDatabase.forConfig("", settings))
  }
}

private class UserTable(tag: Tag) extends Table[User](tag, "users") {
  def id = column[UUID]("id", O.PrimaryKey)
  def login = column[String]("login")
  def loginLowercase = column[String]("login_lowercase")
  def email = column[String]("email")
  def password = column[String]("password")
  def salt = column[String]("salt")
  def createdOn = column[Timestamp]("created_on")

  def * = (id, login, loginLowercase, email, password, salt, createdOn) <> ((User.apply _).tupled, User.unapply)
}
