package bakeoff.locations

import io.vertx.core.DeploymentOptions
import io.vertx.core.Vertx
import io.vertx.kotlin.coroutines.coAwait
import kotlinx.coroutines.runBlocking
import org.slf4j.LoggerFactory
import java.net.BindException
import java.util.Properties
import java.util.function.Supplier
import kotlin.system.exitProcess

private const val PORT = 8080

fun main(args: Array<String>) {
    if (args.contentEquals(arrayOf("--version"))) {
        println(versionReceipt())
        return
    }
    try {
        runBlocking { serve(Config.from(System.getenv())) }
    } catch (e: ConfigError) {
        fail(e)
    } catch (e: StoreUnavailable) {
        fail(e)
    } catch (e: BindException) {
        fail(e)
    }
}

private suspend fun serve(config: Config) {
    val client = elasticClient(config)
    val store = ElasticStore(client).apply { ping() }
    val vertx = Vertx.vertx()
    val loops = Runtime.getRuntime().availableProcessors()
    val verticles = Supplier { Service(Locations(store), PORT) }
    vertx.deployVerticle(verticles, DeploymentOptions().setInstances(loops)).coAwait()
    Runtime.getRuntime().addShutdownHook(
        Thread {
            // Stops the verticles, which wait for the requests under way.
            runBlocking { vertx.close().coAwait() }
            client.close()
        },
    )
    LoggerFactory.getLogger("Main").info("listening on port {} with {} event loops", PORT, loops)
}

private fun fail(e: Exception) {
    System.err.println("cannot start: ${e.message}" + (e.cause?.let { ": $it" } ?: ""))
    exitProcess(1)
}

private fun versionReceipt(): String {
    val versions = Properties()
    Config::class.java.getResourceAsStream("/version.properties").use { versions.load(it) }
    return "${versions["name"]}: Vert.x ${versions["vertx"]} (coroutines ${versions["vertx-coroutines"]})," +
        " elasticsearch-rest-client ${versions["elasticsearch-client"]}," +
        " Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}"
}
