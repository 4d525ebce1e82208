package bakeoff.bootzooka

import java.sql.Timestamp
import java.util.UUID

import scala.concurrent.{ExecutionContext, Future}

import com.typesafe.config.ConfigFactory
import slick.driver.PostgresDriver.api.{Database => SlickDatabase, _}

/** Another user has the login or the e-mail address already. */
sealed abstract class Taken(val message: String)
case object LoginTaken extends Taken("the login is already in use")
case object EmailTaken extends Taken("the e-mail address is already in use")

/** The table `users` in PostgreSQL, used as Bootzooka used it before its move: without indexes, and
  * an insertion is preceded by the same look-ups again, in its own transaction.
  */
class Users(database: SlickDatabase)(implicit executor: ExecutionContext) {
  private val users = TableQuery[UserTable]

  /** Fails when the database does not answer. The suite's schema has indexes, Bootzooka's had none;
    * a look-up that finds one would not scan the table, as it did there.
    */
  def ping(): Future[Unit] =
    database.run(sqlu"DROP INDEX IF EXISTS users_login_lowercase, users_email").map(_ => ())

  /** Both look-ups are under way at once, each with a separate connection. */
  def taken(login: String, email: String): Future[Option[Taken]] = {
    val byLogin = database.run(withLogin(login))
    val byEmail = database.run(withEmail(email))
    for {
      sameLogin <- byLogin
      sameEmail <- byEmail
    } yield either(sameLogin, sameEmail)
  }

  /** Three statements in one transaction, which keeps one connection until its end. */
  def add(user: User): Future[Option[Taken]] = {
    val insertion = for {
      sameLogin <- withLogin(user.loginLowercase)
      sameEmail <- withEmail(user.email)
      found = either(sameLogin, sameEmail)
      _ <- if (found.isEmpty) users += user else DBIO.successful(0)
    } yield found
    database.run(insertion.transactionally)
  }

  def close(): Unit = database.close()

  private def withLogin(login: String) = users.filter(_.loginLowercase === login).result.headOption

  private def withEmail(email: String) =
    users.filter(_.email.toLowerCase === email).result.headOption

  private def either(sameLogin: Option[User], sameEmail: Option[User]): Option[Taken] =
    sameLogin.map(_ => LoginTaken).orElse(sameEmail.map(_ => EmailTaken))
}

object Users {
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
