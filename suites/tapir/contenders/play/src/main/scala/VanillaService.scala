package bakeoff.tapir

import com.github.plokhotnyuk.jsoniter_scala.core.{JsonReaderException, readFromArray}
import org.apache.pekko.stream.scaladsl.{Flow, Sink, Source}
import play.api.BuiltInComponents
import play.api.mvc.{BodyParser, WebSocket}
import play.api.mvc.Results.{BadRequest, Ok}
import play.api.routing.Router.Routes
import play.api.routing.sird.*

import scala.concurrent.duration.*

/** The service with Play alone: its String interpolating routing, a route after the other. */
final class VanillaService(components: BuiltInComponents):
  import components.{defaultActionBuilder as Action, playBodyParsers as parse}

  private val limit = Settings.BodyLimit.toLong

  def routes(settings: Settings): Routes =
    (settings.numbers.map(ofNumber) :+ timestamps).reduceRight(_ orElse _)

  private def ofNumber(n: Int): Routes =
    // What p"/path5/$id" stands for, for a number that is not known when this is compiled.
    val withId = StringContext(s"/path$n/", "").p
    val (string, bytes) = (StringContext(s"/path$n").p, StringContext(s"/pathBytes$n").p)
    val (file, json) = (StringContext(s"/pathFile$n").p, StringContext(s"/pathJson$n").p)
    {
      case GET(withId(int(id))) => Action(Ok(Answers.get(n, id)))
      case POST(string()) =>
        Action(parse.tolerantText(limit))(request => Ok(Answers.string(n, request.body)))
      case POST(bytes()) =>
        Action(parse.byteString(limit))(request => Ok(Answers.bytes(n, request.body.toArray)))
      case POST(file()) =>
        Action(parse.temporaryFile(limit)) { request =>
          Ok(Answers.file(n, request.body.path.toFile))
        }
      case POST(json()) =>
        Action(orders)(request => Ok(Answers.json(n, request.body)))
    }

  private val orders: BodyParser[Order] = parse
    .byteString(limit)
    .validate { body =>
      try Right(readFromArray[Order](body.toArray))
      catch case _: JsonReaderException => Left(BadRequest("not an order"))
    }(components.executionContext)

  private val timestamps: Routes =
    // A tick would come 10 to 20 ms later each time, as Pekko's scheduler has it.
    val push = Source
      .repeat(())
      .throttle(1, PushEveryMillis.millis)
      .map(_ => Answers.timestamp())
    {
      case GET(p"/ws/ts") =>
        WebSocket.accept[String, String] { _ =>
          Flow.fromSinkAndSourceCoupled(Sink.ignore, push)
        }
    }
