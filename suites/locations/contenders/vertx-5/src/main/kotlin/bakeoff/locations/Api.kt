package bakeoff.locations

import io.vertx.core.Vertx
import io.vertx.core.http.HttpHeaders
import io.vertx.core.http.HttpServerResponse
import io.vertx.ext.web.Router
import io.vertx.ext.web.RoutingContext
import io.vertx.ext.web.handler.HttpException
import io.vertx.ext.web.handler.LoggerFormat
import io.vertx.ext.web.handler.LoggerHandler
import io.vertx.kotlin.coroutines.CoroutineRouterSupport
import io.vertx.kotlin.coroutines.coroutineRouter
import kotlinx.coroutines.CoroutineScope
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json
import org.slf4j.LoggerFactory

@Serializable
data class CityResponse(
    val countryIso: String,
    val id: Long,
    val isFeatured: Boolean,
    val name: String,
    val regionName: String,
)

@Serializable
data class MultiCityResponse(val cities: List<CityResponse>)

@Serializable
data class ErrorResponse(val message: String)

/** A parameter that cannot be; the message is for the caller. */
private class BadRequest(message: String) : Exception(message)

private class NoSuchCity : Exception("there is no such city")

private val log = LoggerFactory.getLogger("Api")

/** The whole service; its handlers run in the receiver, the scope of a verticle, and so on its event loop. */
fun CoroutineScope.api(vertx: Vertx, locations: Locations): Router = Router.router(vertx).apply {
    route().handler(LoggerHandler.create(LoggerFormat.TINY))
    coroutineRouter { cities(this@apply, locations) }
    val description = checkNotNull(Config::class.java.getResource("/api-docs.json")).readText()
    get("/api-docs").handler { it.response().json(description) }
    // What no route answers is no failure to Vert.x, hence both.
    listOf(404, 405).forEach { status -> errorHandler(status) { it.respondFailure() } }
    route().failureHandler { it.respondFailure() }
}

private fun CoroutineRouterSupport.cities(router: Router, locations: Locations) {
    router.get("/city/v1/get").coHandler { call ->
        val language = call.language()
        call.respondCity(locations.get(call.id()), language)
    }
    router.get("/city/v1/closest").coHandler { call ->
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
    router.get("/city/v1/associatedFeatured").coHandler { call ->
        val language = call.language()
        call.respondCity(locations.associatedFeatured(call.id()), language)
    }
    router.get("/city/v1/search").coHandler { call ->
        val language = call.language()
        val text = call.required("query").ifBlank { throw BadRequest("query is invalid") }
        call.respondCities(locations.search(text, language, call.queryParams()["countryIso"]), language)
    }
    router.get("/city/v1/featured").coHandler { call ->
        val language = call.language()
        call.respondCities(locations.featured(language), language)
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

private fun RoutingContext.respondCity(place: Place?, language: Language) {
    response().json(Json.encodeToString(place?.toResponse(language) ?: throw NoSuchCity()))
}

private fun RoutingContext.respondCities(places: List<Place>, language: Language) {
    response().json(Json.encodeToString(MultiCityResponse(places.map { it.toResponse(language) })))
}

private fun RoutingContext.respondFailure() = when (val e = failure()) {
    null -> respondError(statusCode(), messageOf(statusCode()))

    is BadRequest -> respondError(400, e.message)

    is NoSuchCity -> respondError(404, e.message)

    is HttpException -> respondError(e.statusCode, messageOf(e.statusCode))

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
    status < 500 -> "the request is invalid"
    else -> "something went wrong"
}

private fun RoutingContext.respondError(status: Int, message: String?) {
    // The answer may have been under way when something failed.
    if (response().ended()) return
    response().setStatusCode(status).json(Json.encodeToString(ErrorResponse(message ?: messageOf(status))))
}

private fun HttpServerResponse.json(text: String) {
    putHeader(HttpHeaders.CONTENT_TYPE, "application/json").end(text)
}

private fun Place.toResponse(language: Language) = CityResponse(
    countryIso = city.countryIso,
    id = city.id,
    isFeatured = city.isFeatured,
    name = city.names.getValue(language),
    regionName = region.names.getValue(language),
)
