package bakeoff.bootzooka

import java.nio.charset.StandardCharsets.UTF_8
import java.security.SecureRandom
import java.time.{LocalDateTime, ZoneOffset}
import java.util.{HexFormat, Locale, UUID}
import javax.crypto.SecretKeyFactory
import javax.crypto.spec.PBEKeySpec

/** What somebody sends to register. */
case class Registration(login: String, email: String, password: String):

  /** The same without spaces around it; none if it is not valid. */
  def valid: Option[Registration] =
    val trimmed = copy(login = login.trim, email = email.trim.toLowerCase(Locale.ROOT))
    Option.when(
      trimmed.login.length >= Registration.LoginLengthMin &&
        Registration.Email.matches(trimmed.email) &&
        password.nonEmpty
    )(trimmed)

  def loginLowercase: String = login.toLowerCase(Locale.ROOT)

object Registration:
  private val LoginLengthMin = 3

  /** A valid e-mail address as the HTML standard defines it. */
  private val Email =
    ("[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
      "(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*").r

/** A row of the table `users`. */
case class User(
    id: UUID,
    login: String,
    loginLowercase: String,
    email: String,
    password: String,
    salt: String,
    createdOn: LocalDateTime
)

object User:
  private val SaltLength = 128
  private val Iterations = 10000
  private val KeyBits = 128
  private val Random = SecureRandom()

  def from(registration: Registration): User =
    val salt = newSalt()
    User(
      UUID.randomUUID(),
      registration.login,
      registration.loginLowercase,
      registration.email,
      hash(registration.password, salt),
      salt,
      LocalDateTime.now(ZoneOffset.UTC)
    )

  private def newSalt(): String = Array.fill(SaltLength)(('A' + Random.nextInt(26)).toChar).mkString

  private[bootzooka] def hash(password: String, salt: String): String =
    val key = PBEKeySpec(password.toCharArray, salt.getBytes(UTF_8), Iterations, KeyBits)
    val bytes = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA1").generateSecret(key).getEncoded
    HexFormat.of().withUpperCase().formatHex(bytes)
