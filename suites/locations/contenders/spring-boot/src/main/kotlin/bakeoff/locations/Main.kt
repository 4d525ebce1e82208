package bakeoff.locations

import io.swagger.v3.oas.models.OpenAPI
import io.swagger.v3.oas.models.info.Info
import org.apache.catalina.core.StandardHost
import org.apache.catalina.util.ServerInfo
import org.apache.catalina.valves.JsonErrorReportValve
import org.elasticsearch.client.RestClient
import org.springframework.boot.SpringBootVersion
import org.springframework.boot.autoconfigure.SpringBootApplication
import org.springframework.boot.runApplication
import org.springframework.boot.tomcat.TomcatContextCustomizer
import org.springframework.context.ApplicationContextInitializer
import org.springframework.context.annotation.Bean
import org.springframework.context.support.GenericApplicationContext
import org.springframework.context.support.registerBean
import java.util.Properties
import kotlin.system.exitProcess

@SpringBootApplication
class Application {
    @Bean
    fun locations(store: Store) = Locations(store)

    @Bean
    fun description(): OpenAPI = OpenAPI().info(
        Info().title("Locations").version("1.0").description("Cities and their regions, in five languages."),
    )

    /** For requests that Tomcat refuses before Spring sees them. */
    @Bean
    fun jsonErrorsOfTomcat() = TomcatContextCustomizer { context ->
        (context.parent as StandardHost).errorReportValveClass = JsonErrorReportValve::class.java.name
    }
}

fun main(args: Array<String>) {
    if (args.contentEquals(arrayOf("--version"))) {
        println(versionReceipt())
        return
    }
    try {
        serve(Config.from(System.getenv()), args)
    } catch (e: ConfigError) {
        fail(e)
    } catch (e: StoreUnavailable) {
        fail(e)
    }
}

/** Looks for the database first: Spring takes seconds to start, which would be for nothing. */
private fun serve(config: Config, args: Array<String>) {
    val client = elasticClient(config)
    val store = ElasticStore(client).apply { ping() }
    runApplication<Application>(*args) {
        addInitializers(
            ApplicationContextInitializer<GenericApplicationContext> { context ->
                // Spring closes the client when it stops, after the last request.
                context.registerBean<RestClient> { client }
                context.registerBean<Store> { store }
            },
        )
    }
}

private fun fail(e: Exception) {
    System.err.println("cannot start: ${e.message}" + (e.cause?.let { ": $it" } ?: ""))
    exitProcess(1)
}

private fun versionReceipt(): String {
    val versions = Properties()
    Config::class.java.getResourceAsStream("/version.properties").use { versions.load(it) }
    return "${versions["name"]}: Spring Boot ${SpringBootVersion.getVersion()}" +
        " on Tomcat ${ServerInfo.getServerNumber()}, springdoc ${versions["springdoc"]}," +
        " elasticsearch-rest-client ${versions["elasticsearch-client"]}," +
        " Kotlin ${KotlinVersion.CURRENT}, Java ${System.getProperty("java.version")}"
}
