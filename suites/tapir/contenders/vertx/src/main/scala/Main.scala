package bakeoff.tapir

import io.vertx.core.{AbstractVerticle, DeploymentOptions, Promise, Verticle, Vertx}
import io.vertx.ext.web.Router

import java.util.concurrent.TimeUnit
import java.util.function.Supplier

/** A server on one event loop. */
final class Service(settings: Settings) extends AbstractVerticle:
  override def start(started: Promise[Void]): Unit =
    val router = Router.router(vertx)
    settings.kind match
      case Kind.Vanilla => VanillaService.mount(router, vertx, settings)
      case _            => TapirService.mount(router, vertx, settings)
    vertx
      .createHttpServer()
      .requestHandler(router)
      .listen(Settings.Port)
      .onSuccess(_ => started.complete())
      .onFailure(cause => started.fail(cause))

/** Vert.x with an event loop for each core that the process may use. */
object Main:
  def main(args: Array[String]): Unit =
    val settings = Settings.ofProcess(args.toSeq)
    val vertx = Vertx.vertx()
    val service: Supplier[Verticle] = () => new Service(settings)
    val cores = Runtime.getRuntime.availableProcessors
    vertx
      .deployVerticle(service, new DeploymentOptions().setInstances(cores))
      .onSuccess(_ => println(s"listening on port ${Settings.Port}"))
      .onFailure { cause =>
        Console.err.println(s"cannot start: $cause")
        sys.exit(1)
      }
    sys.addShutdownHook(
      vertx.close().toCompletionStage.toCompletableFuture.get(14, TimeUnit.SECONDS)
    )
