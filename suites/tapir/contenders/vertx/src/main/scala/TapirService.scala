package bakeoff.tapir

import io.vertx.core.streams.ReadStream
import io.vertx.core.{Handler, Vertx}
import io.vertx.ext.web.Router
import sttp.capabilities.WebSockets
import sttp.monad.{FutureMonad, MonadError}
import sttp.tapir.*
import sttp.tapir.server.ServerEndpoint
import sttp.tapir.server.vertx.streams.VertxStreams
import sttp.tapir.server.vertx.{VertxFutureServerInterpreter, VertxFutureServerOptions}

import scala.concurrent.{ExecutionContext, Future}

/** The service described with Tapir, on its interpreter for Vert.x and Scala's futures. */
object TapirService:
  private given ExecutionContext = ExecutionContext.global
  private given MonadError[Future] = new FutureMonad

  def mount(router: Router, vertx: Vertx, settings: Settings): Unit =
    val options = VertxFutureServerOptions.customiseInterceptors
      .serverLog(Endpoints.serverLog[Future](settings.kind))
      .options
    val interpreter = VertxFutureServerInterpreter(options)
    new Endpoints[Future].all(settings.numbers).foreach(interpreter.route(_)(router))
    interpreter.route(timestamps(vertx))(router)

  private def timestamps(vertx: Vertx): ServerEndpoint[VertxStreams & WebSockets, Future] =
    endpoint.get
      .in("ws" / "ts")
      .out(
        webSocketBody[String, CodecFormat.TextPlain, String, CodecFormat.TextPlain](VertxStreams)
      )
      .serverLogicSuccess[Future] { _ =>
        Future.successful { in =>
          val push = new Timestamps(vertx)
          in.handler(_ => ()).endHandler(_ => push.end()).exceptionHandler(_ => push.end())
          push
        }
      }

/** A stream of time stamps, pushed on the event loop on which it was made. */
private final class Timestamps(vertx: Vertx) extends ReadStream[String]:
  private var onItem: Handler[String] = null
  private var onEnd: Handler[Void] = null
  private var paused = false
  private val timer = vertx.setPeriodic(
    PushEveryMillis,
    _ => if !paused && onItem != null then onItem.handle(Answers.timestamp())
  )

  def end(): Unit =
    if vertx.cancelTimer(timer) && onEnd != null then onEnd.handle(null)

  override def handler(handler: Handler[String]): ReadStream[String] =
    onItem = handler
    this

  override def endHandler(handler: Handler[Void]): ReadStream[String] =
    onEnd = handler
    this

  override def exceptionHandler(handler: Handler[Throwable]): ReadStream[String] = this

  override def pause(): ReadStream[String] =
    paused = true
    this

  override def resume(): ReadStream[String] =
    paused = false
    this

  override def fetch(amount: Long): ReadStream[String] = resume()
