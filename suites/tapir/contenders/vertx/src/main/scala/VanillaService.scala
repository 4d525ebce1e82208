package bakeoff.tapir

import com.github.plokhotnyuk.jsoniter_scala.core.{JsonReaderException, readFromArray}
import io.vertx.core.Vertx
import io.vertx.core.buffer.Buffer
import io.vertx.ext.web.handler.BodyHandler
import io.vertx.ext.web.{Router, RoutingContext}

import java.io.File

/** The service with Vert.x alone. */
object VanillaService:
  def mount(router: Router, vertx: Vertx, settings: Settings): Unit =
    settings.numbers.foreach(ofNumber(router, vertx, _))
    timestamps(router, vertx)

  private def ofNumber(router: Router, vertx: Vertx, n: Int): Unit =
    router.get(s"/path$n/:id").handler { context =>
      context.pathParam("id").toIntOption match
        case Some(id) => answer(context, Answers.get(n, id))
        case None     => context.next()
    }
    post(router, s"/path$n")((context, body) => answer(context, Answers.string(n, body.toString)))
    post(router, s"/pathBytes$n") { (context, body) =>
      answer(context, Answers.bytes(n, body.getBytes))
    }
    post(router, s"/pathFile$n") { (context, body) =>
      val files = vertx.fileSystem()
      files
        .createTempFile("bakeoff", null)
        .compose(path => files.writeFile(path, body).map(_ => new File(path)))
        .onSuccess(file => answer(context, Answers.file(n, file)))
        .onFailure(cause => context.fail(cause))
    }
    post(router, s"/pathJson$n") { (context, body) =>
      try answer(context, Answers.json(n, readFromArray[Order](body.getBytes)))
      catch case _: JsonReaderException => context.fail(400)
    }

  private def post(router: Router, path: String)(
      handle: (RoutingContext, Buffer) => Unit
  ): Unit =
    val body = BodyHandler.create(false).setBodyLimit(Settings.BodyLimit)
    router
      .post(path)
      .handler(body)
      .handler(context => handle(context, Option(context.body.buffer).getOrElse(Buffer.buffer())))

  private def answer(context: RoutingContext, text: String): Unit =
    context.response.putHeader("content-type", "text/plain; charset=UTF-8").end(text)

  private def timestamps(router: Router, vertx: Vertx): Unit =
    router.get("/ws/ts").handler { context =>
      context.request.toWebSocket.onSuccess { socket =>
        socket.textMessageHandler(_ => ())
        val timer =
          vertx.setPeriodic(PushEveryMillis, _ => socket.writeTextMessage(Answers.timestamp()))
        socket.closeHandler(_ => vertx.cancelTimer(timer))
      }
    }
