package bakeoff.bootzooka

import java.nio.charset.StandardCharsets.UTF_8
import java.security.SecureRandom
import java.sql.Timestamp
import java.time.{LocalDateTime, ZoneOffset}
import java.util.{Locale, UUID}
import javax.crypto.SecretKeyFactory
import javax.crypto.spec.PBEKeySpec

/** What somebody sends to register. */
case class Registration(login: String, email: String, password: String) {

  /** The same without spaces around it; none if it is not valid. */
  def valid: Option[Registration] = {
    val trimmed = copy(login = login.trim, email = email.trim.toLowerCase(Locale.ROOT))
    if (trimmed.login.length >= Registration.LoginLengthMin &&
        Registration.Email.matcher(trimmed.email).matches &&
        password.nonEmpty) Some(trimmed)
    else None
  }
}

object Registration {
  private val LoginLengthMin = 3

  /** A valid e-mail address as the HTML standard defines it. */
  private val Email =
    ("[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?" +
      "(?:\\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*").r.pattern
}

/** A row of the table `users`. */
case class User(
    id: UUID,
    login: String,
    loginLowercase: String,
    email: String,
    password: String,
    salt: String,
    createdOn: Timestamp
)

object User {
  private val SaltLength = 128
  private val Iterations = 10000
  private val KeyBits = 128
  private val Random = new SecureRandom

  def from(registration: Registration): User = {
    val salt = newSalt()
    User(
      UUID.randomUUID(),
      registration.login,
      registration.login.toLowerCase(Locale.ROOT),
      registration.email,
      hash(registration.password, salt),
      salt,
      Timestamp.valueOf(LocalDateTime.now(ZoneOffset.UTC))
    )
  }

  private def newSalt(): String = Array.fill(SaltLength)(('A' + Random.nextInt(26)).toChar).mkString

  private[bootzooka] def hash(password: String, salt: String): String = {
    val key = new PBEKeySpec(password.toCharArray, salt.getBytes(UTF_8), Iterations, KeyBits)
    val bytes = SecretKeyFactory.getInstance("PBKDF2WithHmacSHA1").generateSecret(key).getEncoded
    bytes.map(byte => f"$byte%02X").mkString
  }
}
