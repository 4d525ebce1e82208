package bakeoff.locations

import io.ktor.http.HttpStatusCode
import io.ktor.serialization.kotlinx.json.json
import io.ktor.server.application.Application
import io.ktor.server.application.ApplicationCall
import io.ktor.server.application.install
import io.ktor.server.application.log
import io.ktor.server.plugins.BadRequestException
import io.ktor.server.plugins.NotFoundException
import io.ktor.server.plugins.calllogging.CallLogging
import io.ktor.server.plugins.calllogging.processingTimeMillis
import io.ktor.server.plugins.contentnegotiation.ContentNegotiation
import io.ktor.server.plugins.statuspages.StatusPages
import io.ktor.server.request.header
import io.ktor.server.request.httpMethod
import io.ktor.server.request.uri
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.RoutingCall
import io.ktor.server.routing.get
import io.ktor.server.routing.openapi.describe
import io.ktor.server.routing.route
import io.ktor.server.routing.routing
import io.ktor.utils.io.ExperimentalKtorApi
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json

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

fun Application.api(locations: Locations) {
    install(CallLogging) {
        disableDefaultColors()
        format { call ->
            val status = call.response.status()?.value
            "${call.request.httpMethod.value} ${call.request.uri} $status ${call.processingTimeMillis()} ms"
        }
    }
    // Not Ktor's own default, which would write every absent field of the OpenAPI description as null.
    install(ContentNegotiation) { json(Json) }
    install(StatusPages) {
        exception<BadRequestException> { call, e -> call.fail(HttpStatusCode.BadRequest, e.message) }
        exception<NotFoundException> { call, e -> call.fail(HttpStatusCode.NotFound, e.message) }
        exception<StoreUnavailable> { call, e ->
            call.application.log.error(call.request.uri, e)
            call.fail(HttpStatusCode.ServiceUnavailable, "the database does not answer")
        }
        exception<Throwable> { call, e ->
            call.application.log.error(call.request.uri, e)
            call.fail(HttpStatusCode.InternalServerError, "something went wrong")
        }
        unhandled { call -> call.fail(HttpStatusCode.NotFound, "there is nothing here") }
    }
    routing {
        val cities = route("/city/v1") { cities(locations) }
        apiDocs(cities)
    }
}

@OptIn(ExperimentalKtorApi::class)
private fun Route.cities(locations: Locations) {
    get("/get") {
        val language = call.language()
        call.respondCity(locations.get(call.id()), language)
    }.describe { describeGet() }

    get("/closest") {
        val language = call.language()
        val lat = call.degrees("lat", Coordinates.LATITUDES)
        val lon = call.degrees("lon", Coordinates.LONGITUDES)
        val place = when {
            lat != null && lon != null -> locations.closest(Coordinates(lat, lon))
            lat == null && lon == null -> locations.closestForVisitor(call.visitor(), language)
            else -> throw BadRequestException("lat and lon must be given together")
        }
        call.respondCity(place, language)
    }.describe { describeClosest() }

    get("/associatedFeatured") {
        val language = call.language()
        call.respondCity(locations.associatedFeatured(call.id()), language)
    }.describe { describeAssociatedFeatured() }

    get("/search") {
        val language = call.language()
        val text = call.required("query").ifBlank { throw BadRequestException("query is invalid") }
        call.respondCities(locations.search(text, language, call.queryParameters["countryIso"]), language)
    }.describe { describeSearch() }

    get("/featured") {
        val language = call.language()
        call.respondCities(locations.featured(language), language)
    }.describe { describeFeatured() }
}

private fun RoutingCall.required(name: String): String =
    queryParameters[name] ?: throw BadRequestException("$name is missing")

private fun RoutingCall.language(): Language =
    Language.ofOrNull(required("language")) ?: throw BadRequestException("language is invalid")

private fun RoutingCall.id(): Long = required("id").toLongOrNull() ?: throw BadRequestException("id is invalid")

private fun RoutingCall.degrees(name: String, range: ClosedFloatingPointRange<Double>): Double? {
    val text = queryParameters[name] ?: return null
    return text.toDoubleOrNull()?.takeIf { it in range } ?: throw BadRequestException("$name is invalid")
}

/** Where the network in front of the service saw the visitor. It is a guess, so a senseless one is no error. */
private fun RoutingCall.visitor(): Coordinates? {
    val lat = request.header(VISITOR_LAT)?.toDoubleOrNull()?.takeIf { it in Coordinates.LATITUDES } ?: return null
    val lon = request.header(VISITOR_LON)?.toDoubleOrNull()?.takeIf { it in Coordinates.LONGITUDES } ?: return null
    return if (lat == 0.0 && lon == 0.0) null else Coordinates(lat, lon)
}

internal const val VISITOR_LAT = "Fastly-Geo-Lat"
internal const val VISITOR_LON = "Fastly-Geo-Lon"

private suspend fun RoutingCall.respondCity(place: Place?, language: Language) =
    respond(place?.toResponse(language) ?: throw NotFoundException("there is no such city"))

private suspend fun RoutingCall.respondCities(places: List<Place>, language: Language) =
    respond(MultiCityResponse(places.map { it.toResponse(language) }))

private suspend fun ApplicationCall.fail(status: HttpStatusCode, message: String?) =
    respond(status, ErrorResponse(message ?: status.description))

private fun Place.toResponse(language: Language) = CityResponse(
    countryIso = city.countryIso,
    id = city.id,
    isFeatured = city.isFeatured,
    name = city.names.getValue(language),
    regionName = region.names.getValue(language),
)
