package bakeoff.locations

import org.http4k.server.Jetty
import org.http4k.server.JettyLoom
import org.http4k.server.ServerConfig
import org.http4k.server.SunHttp
import org.http4k.server.SunHttpLoom

/** The HTTP servers the service can run on, each with the defaults of its makers and of http4k. */
enum class Engine(val on: (port: Int) -> ServerConfig) {
    JETTY({ Jetty(it) }),
    JETTY_LOOM({ JettyLoom(it) }),
    SUNHTTP({ SunHttp(it) }),
    SUNHTTP_LOOM({ SunHttpLoom(it) }),
    ;

    val title = name.lowercase().replace('_', '-')
}
