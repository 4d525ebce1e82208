package bakeoff.bootzooka

import java.sql.{PreparedStatement, SQLException}
import javax.sql.DataSource

import scala.util.Using

/** Somebody else has it already. */
enum Taken(val message: String):
  case Login extends Taken("the login is already in use")
  case Email extends Taken("the e-mail address is already in use")

/** The table `users` in PostgreSQL. Calls wait for the database on the calling, virtual, thread. */
class Users(pool: DataSource):

  def taken(registration: Registration): Option[Taken] =
    if exists("SELECT id FROM users WHERE login_lowercase = ?", registration.loginLowercase) then
      Some(Taken.Login)
    else Option.when(exists("SELECT id FROM users WHERE email = ?", registration.email))(Taken.Email)

  /** Who else has it, if two register at the same time. */
  def add(user: User): Option[Taken] =
    val insertion =
      "INSERT INTO users (id, login, login_lowercase, email, password, salt, created_on) VALUES (?, ?, ?, ?, ?, ?, ?)"
    try
      execute(insertion): statement =>
        val row = user.productIterator.zipWithIndex
        row.foreach((value, index) => statement.setObject(index + 1, value))
        statement.executeUpdate()
      None
    catch
      case e: SQLException if e.getSQLState == Users.UniqueViolation =>
        Some(if e.getMessage.contains("users_email") then Taken.Email else Taken.Login)

  private def exists(query: String, value: String): Boolean =
    execute(query): statement =>
      statement.setString(1, value)
      Using.resource(statement.executeQuery())(_.next())

  private def execute[A](sql: String)(use: PreparedStatement => A): A =
    Using.resource(pool.getConnection): connection =>
      Using.resource(connection.prepareStatement(sql))(use)

object Users:
  private val UniqueViolation = "23505"
