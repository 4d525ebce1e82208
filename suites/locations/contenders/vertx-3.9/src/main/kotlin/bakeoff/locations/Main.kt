package bakeoff.locations

import io.vertx.core.DeploymentOptions
import io.vertx.core.Verticle
import io.vertx.core.Vertx
import io.vertx.core.logging.SLF4JLogDelegateFactory
import io.vertx.kotlin.core.closeAwait
import io.vertx.kotlin.coroutines.awaitResult
import kotlinx.coroutines.runBlocking
import org.slf4j.LoggerFactory
import java.net.BindException
import java.util.Properties
import java.util.function.Supplier
import kotlin.system.exitProcess

private const val PORT = 8080
private const val DRAIN_MS = 10_000L

fun main(args: Array<String>) {
    if (args.contentEquals(arrayOf("--version"))) {
        println(versionReceipt())
        return
    }
    // Vert.x 3 writes its log, the one of requests included, to java.util.logging unless told otherwise.
    System.setProperty("vertx.logger-delegate-factory-class-name", SLF4JLogDelegateFactory::class.java.name)
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
    val gate = Gate()
    val loops = Runtime.getRuntime().availableProcessors()
    val verticles = Supplier<Verticle> { Service(Locations(store), gate, PORT) }
    awaitResult<String> { vertx.deployVerticle(verticles, DeploymentOptions().setInstances(loops), it) }
    Runtime.getRuntime().addShutdownHook(
        Thread {
            gate.close(DRAIN_MS)
            runBlocking { vertx.closeAwait() }
            client.close()
        }
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
    return "${versions["name"]}: Vert.x ${versions["vertx"]}," +
        " elasticsearch-rest-client ${versions["elasticsearch-client"]}," +
        " Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}"
}
