package bakeoff.locations

import io.vertx.core.Vertx
import io.vertx.core.http.HttpHeaders
import io.vertx.core.http.HttpServerResponse
import io.vertx.core.json.JsonObject
import io.vertx.ext.web.Route
import io.vertx.ext.web.Router
import io.vertx.ext.web.RoutingContext
import io.vertx.ext.web.handler.LoggerFormat
import io.vertx.ext.web.handler.LoggerHandler
import io.vertx.ext.web.handler.impl.HttpStatusException
import io.vertx.kotlin.core.json.jsonObjectOf
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.launch
import org.slf4j.LoggerFactory

/** A parameter that cannot be; the message is for the caller. */
private class BadRequest(message: String) : Exception(message)

private class NoSuchCity : Exception("there is no such city")

private val log = LoggerFactory.getLogger("Api")

/** The whole service; its handlers run in the receiver, the scope of a verticle, and so on its event loop. */
fun CoroutineScope.api(vertx: Vertx, locations: Locations, gate: Gate): Router = Router.router(vertx).apply {
    route().handler(LoggerHandler.create(LoggerFormat.TINY))
    route().handler(gate)
    Cities(this@api, locations).addTo(this)
    val description = checkNotNull(Config::class.java.getResource("/api-docs.json")).readText()
    get("/api-docs").handler { it.response().json(description) }
    // What no route answers is no failure to Vert.x, hence both.
    listOf(404, 405).forEach { status -> errorHandler(status) { it.respondFailure() } }
    route().failureHandler { it.respondFailure() }
}

private class Cities(private val scope: CoroutineScope, private val locations: Locations) {
    fun addTo(router: Router) {
        router.get("/city/v1/get").suspending { call ->
            val language = call.language()
            call.respondCity(locations.get(call.id()), language)
        }
        router.get("/city/v1/closest").suspending { call ->
            val language = call.language()
            val lat = call.degrees("lat", Coordinates.LATITUDES)
            val lon = call.degrees("lon", Coordinates.LONGITUDES)
            val place = when {
                lat != null && lon != null -> locations.closest(Coordinates(lat, lon))
                lat == null && lon == null -> locations.closestForVisitor(call.visitor(), language)
                else -> throw BadRequest("lat and lon must be given together")
            }
            call.respondCity(place, language)
        }
        router.get("/city/v1/associatedFeatured").suspending { call ->
            val language = call.language()
            call.respondCity(locations.associatedFeatured(call.id()), language)
        }
        router.get("/city/v1/search").suspending { call ->
            val language = call.language()
            val text = call.required("query").ifBlank { throw BadRequest("query is invalid") }
            call.respondCities(locations.search(text, language, call.queryParams()["countryIso"]), language)
        }
        router.get("/city/v1/featured").suspending { call ->
            val language = call.language()
            call.respondCities(locations.featured(language), language)
        }
    }

    /** A handler that may wait without holding a thread; what it throws is a failure to the router. */
    private fun Route.suspending(handle: suspend (RoutingContext) -> Unit) = handler { call ->
        scope.launch {
            try {
                handle(call)
            } catch (e: Exception) {
                call.fail(e)
            }
        }
    }
}

private fun RoutingContext.required(name: String): String =
    queryParams()[name] ?: throw BadRequest("$name is missing")

private fun RoutingContext.language(): Language =
    Language.ofOrNull(required("language")) ?: throw BadRequest("language is invalid")

private fun RoutingContext.id(): Long = required("id").toLongOrNull() ?: throw BadRequest("id is invalid")

private fun RoutingContext.degrees(name: String, range: ClosedFloatingPointRange<Double>): Double? {
    val text = queryParams()[name] ?: return null
    return text.toDoubleOrNull()?.takeIf { it in range } ?: throw BadRequest("$name is invalid")
}

/** Where the network in front of the service saw the visitor. It is a guess, so a senseless one is no error. */
private fun RoutingContext.visitor(): Coordinates? {
    val headers = request().headers()
    val lat = headers["Fastly-Geo-Lat"]?.toDoubleOrNull()?.takeIf { it in Coordinates.LATITUDES } ?: return null
    val lon = headers["Fastly-Geo-Lon"]?.toDoubleOrNull()?.takeIf { it in Coordinates.LONGITUDES } ?: return null
    return if (lat == 0.0 && lon == 0.0) null else Coordinates(lat, lon)
}

private fun RoutingContext.respondCity(place: Place?, language: Language) =
    response().json(place?.toJson(language)?.encode() ?: throw NoSuchCity())

private fun RoutingContext.respondCities(places: List<Place>, language: Language) =
    response().json(jsonObjectOf("cities" to places.map { it.toJson(language) }).encode())

private fun RoutingContext.respondFailure() = when (val e = failure()) {
    null -> respondError(statusCode(), messageOf(statusCode()))

    is BadRequest -> respondError(400, e.message)

    is NoSuchCity -> respondError(404, e.message)

    is HttpStatusException -> respondError(e.statusCode, messageOf(e.statusCode))

    is StoreUnavailable -> {
        log.error("{} {}", request().method(), request().uri(), e)
        respondError(503, "the database does not answer")
    }

    else -> {
        log.error("{} {}", request().method(), request().uri(), e)
        respondError(500, messageOf(500))
    }
}

private fun messageOf(status: Int): String = when {
    status == 404 -> "there is nothing here"
    status == 405 -> "there is no such method here"
    status == 503 -> "the service is stopping"
    status < 500 -> "the request is invalid"
    else -> "something went wrong"
}

private fun RoutingContext.respondError(status: Int, message: String?) {
    // The answer may have been under way when something failed.
    if (response().ended()) return
    response().setStatusCode(status).json(jsonObjectOf("message" to (message ?: messageOf(status))).encode())
}

private fun HttpServerResponse.json(text: String) {
    putHeader(HttpHeaders.CONTENT_TYPE, "application/json").end(text)
}

private fun Place.toJson(language: Language): JsonObject = jsonObjectOf(
    "countryIso" to city.countryIso,
    "id" to city.id,
    "isFeatured" to city.isFeatured,
    "name" to city.names.getValue(language),
    "regionName" to region.names.getValue(language)
)
