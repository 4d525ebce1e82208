package bakeoff.locations

import org.http4k.core.then
import org.http4k.server.asServer
import org.slf4j.LoggerFactory
import java.util.Properties
import kotlin.system.exitProcess

private const val DRAIN_MS = 10_000L

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
    try {
        store.ping()
    } catch (e: StoreUnavailable) {
        client.close()
        throw e
    }

    val gate = Gate()
    val app = requestLog().then(gate.filter).then(api(Locations(store)))
    val server = app.asServer(config.engine.on(config.port)).start()
    Runtime.getRuntime().addShutdownHook(
        Thread {
            gate.close(DRAIN_MS)
            server.stop()
            client.close()
        },
    )
    LoggerFactory.getLogger("Main").info("listening on port {} with {}", server.port(), config.engine.title)
}

private fun fail(e: Exception) {
    System.err.println("cannot start: ${e.message}" + (e.cause?.let { ": $it" } ?: ""))
    exitProcess(1)
}

private fun versionReceipt(): String {
    val versions = Properties()
    Config::class.java.getResourceAsStream("/version.properties").use { versions.load(it) }
    return "${versions["name"]}: http4k ${versions["http4k"]}," +
        " elasticsearch-rest-client ${versions["elasticsearch-client"]}," +
        " Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}"
}
