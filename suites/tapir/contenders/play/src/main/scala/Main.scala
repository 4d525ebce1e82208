package bakeoff.tapir

import play.api.Mode
import play.core.server.{PekkoHttpServer, ServerConfig}

object Main:
  def main(args: Array[String]): Unit =
    val settings = Settings.ofProcess(args.toSeq)
    val config = ServerConfig(address = "0.0.0.0", port = Some(Settings.Port), mode = Mode.Prod)
    val server = PekkoHttpServer.fromRouterWithComponents(config) { components =>
      settings.kind match
        case Kind.Vanilla => VanillaService(components).routes(settings)
        case _            => TapirService.routes(settings, components)
    }
    println(s"listening on port ${Settings.Port}")
    sys.addShutdownHook(server.stop())
