package bakeoff.locations

import io.ktor.server.application.Application
import io.ktor.server.cio.CIO
import io.ktor.server.engine.ApplicationEngine
import io.ktor.server.engine.EmbeddedServer
import io.ktor.server.engine.connector
import io.ktor.server.engine.embeddedServer
import io.ktor.server.netty.Netty
import kotlinx.coroutines.runBlocking
import java.util.Properties
import kotlin.system.exitProcess

private const val GRACE_MS = 1_000L
private const val STOP_TIMEOUT_MS = 10_000L

fun main(args: Array<String>) {
    if (args.contentEquals(arrayOf("--version"))) {
        println(versionReceipt())
        return
    }
    try {
        serve(Config.from(System.getenv()))
    } catch (e: ConfigError) {
        fail(e)
    } catch (e: StoreUnavailable) {
        fail(e)
    }
}

private fun serve(config: Config) = elasticClient(config).use { client ->
    val store = ElasticStore(client)
    runBlocking { store.ping() }
    val server = config.engine.server(config.port) { api(Locations(store)) }
    // Waits for SIGTERM, then for the requests under way.
    server.start(wait = true)
}

private fun Engine.server(port: Int, module: Application.() -> Unit): EmbeddedServer<*, *> = when (this) {
    Engine.NETTY -> embeddedServer(Netty, configure = { common(port) }, module = module)
    Engine.CIO -> embeddedServer(CIO, configure = { common(port) }, module = module)
}

private fun ApplicationEngine.Configuration.common(listenPort: Int) {
    connector {
        host = "0.0.0.0"
        port = listenPort
    }
    shutdownGracePeriod = GRACE_MS
    shutdownTimeout = STOP_TIMEOUT_MS
}

private fun fail(e: Exception) {
    System.err.println("cannot start: ${e.message}" + (e.cause?.let { ": $it" } ?: ""))
    exitProcess(1)
}

private fun versionReceipt(): String {
    val versions = Properties()
    Config::class.java.getResourceAsStream("/version.properties").use { versions.load(it) }
    return "${versions["name"]}: Ktor ${versions["ktor"]} (Netty, CIO)," +
        " elasticsearch-rest-client ${versions["elasticsearch-client"]}," +
        " Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}"
}
