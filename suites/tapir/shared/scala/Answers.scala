package bakeoff.tapir

import com.github.plokhotnyuk.jsoniter_scala.core.*
import com.github.plokhotnyuk.jsoniter_scala.macros.*

import java.io.File
import java.nio.file.Files
import java.time.Instant
import java.time.temporal.ChronoUnit

/** One line of an order. */
final case class Item(id: Int, name: String, quantity: Int, price: Double, tags: List[String])

/** What `/pathJson` takes. */
final case class Order(items: List[Item])

object Order:
  given JsonValueCodec[Order] = JsonCodecMaker.make

/** What the service answers, the same with and without Tapir. */
object Answers:
  def get(number: Int, id: Int): String = (number + id).toString

  def string(number: Int, body: String): String =
    s"Ok [$number], string length = ${body.length}"

  def bytes(number: Int, body: Array[Byte]): String =
    s"Ok [$number], bytes length = ${body.length}"

  /** The answer to a body that was received into a file, which goes. */
  def file(number: Int, body: File): String =
    val length = body.length
    Files.deleteIfExists(body.toPath)
    s"Ok [$number], file length = $length"

  def json(number: Int, order: Order): String =
    val quantity = order.items.iterator.map(_.quantity).sum
    s"Ok [$number], items = ${order.items.length}, quantity = $quantity"

  /** What `/ws/ts` pushes: microseconds since 1970. */
  def timestamp(): String = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()).toString

/** How often `/ws/ts` pushes, in milliseconds. */
val PushEveryMillis = 100L
