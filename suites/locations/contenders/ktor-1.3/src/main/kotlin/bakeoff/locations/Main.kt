package bakeoff.locations

import io.ktor.application.Application
import io.ktor.server.engine.ApplicationEngine
import io.ktor.server.engine.embeddedServer
import io.ktor.server.jetty.Jetty
import io.ktor.server.netty.Netty
import kotlinx.coroutines.runBlocking
import java.util.Properties
import kotlin.system.exitProcess

private const val PORT = 8080
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

private fun serve(config: Config) {
    val client = elasticClient(config)
    val store = ElasticStore(client)
    runBlocking { store.ping() }
    val server = config.engine.server { api(Locations(store)) }
    Runtime.getRuntime().addShutdownHook(
        Thread {
            // Waits for the requests under way.
            server.stop(GRACE_MS, STOP_TIMEOUT_MS)
            client.close()
        }
    )
    server.start()
}

private fun Engine.server(module: Application.() -> Unit): ApplicationEngine = when (this) {
    Engine.NETTY -> embeddedServer(Netty, PORT, module = module)
    Engine.JETTY -> embeddedServer(Jetty, PORT, module = module)
}

private fun fail(e: Exception) {
    System.err.println("cannot start: ${e.message}" + (e.cause?.let { ": $it" } ?: ""))
    exitProcess(1)
}

private fun versionReceipt(): String {
    val versions = Properties()
    Config::class.java.getResourceAsStream("/version.properties").use { versions.load(it) }
    return "${versions["name"]}: Ktor ${versions["ktor"]} (Netty, Jetty)," +
        " elasticsearch-rest-client ${versions["elasticsearch-client"]}," +
        " Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}"
}
