package bakeoff.tapir

import cats.effect.std.Dispatcher
import cats.effect.{ExitCode, IO, IOApp, Resource}
import io.vertx.core.{AbstractVerticle, DeploymentOptions, Promise, Verticle, Vertx}
import io.vertx.core.Future as VertxFuture
import io.vertx.ext.web.Router

import java.util.function.Supplier

object Main:
  def main(args: Array[String]): Unit =
    Service(Settings.ofProcess(args.toSeq).withoutVanilla).main(args)

/** Vert.x with an event loop for each core that the process may use; logic in Cats Effect. */
final class Service(settings: Settings) extends IOApp:
  def run(args: List[String]): IO[ExitCode] =
    val running = for
      dispatcher <- Dispatcher.parallel[IO]
      vertx <- Resource.make(IO(Vertx.vertx()))(vertx => settled(vertx.close()).void)
      _ <- Resource.eval(deploy(vertx, dispatcher))
    yield ()
    running
      .use(_ => IO.println(s"listening on port ${Settings.Port}") *> IO.never)
      .as(ExitCode.Success)

  private def deploy(vertx: Vertx, dispatcher: Dispatcher[IO]): IO[String] =
    val service: Supplier[Verticle] = () => new Server(settings, dispatcher)
    val cores = Runtime.getRuntime.availableProcessors
    settled(vertx.deployVerticle(service, new DeploymentOptions().setInstances(cores)))

  private def settled[A](future: => VertxFuture[A]): IO[A] =
    IO.fromCompletionStage(IO(future.toCompletionStage))

/** A server on one event loop. */
final class Server(settings: Settings, dispatcher: Dispatcher[IO]) extends AbstractVerticle:
  override def start(started: Promise[Void]): Unit =
    val router = Router.router(vertx)
    TapirService.mount(router, settings, dispatcher)
    vertx
      .createHttpServer()
      .requestHandler(router)
      .listen(Settings.Port)
      .onSuccess(_ => started.complete())
      .onFailure(cause => started.fail(cause))
