package bakeoff.locations

import com.fasterxml.jackson.annotation.JsonProperty
import io.ktor.application.Application
import io.ktor.application.ApplicationCall
import io.ktor.application.call
import io.ktor.application.install
import io.ktor.application.log
import io.ktor.features.BadRequestException
import io.ktor.features.CallLogging
import io.ktor.features.ContentNegotiation
import io.ktor.features.NotFoundException
import io.ktor.features.StatusPages
import io.ktor.http.ContentType
import io.ktor.http.HttpStatusCode
import io.ktor.jackson.jackson
import io.ktor.request.header
import io.ktor.request.uri
import io.ktor.response.respond
import io.ktor.response.respondText
import io.ktor.routing.Route
import io.ktor.routing.get
import io.ktor.routing.route
import io.ktor.routing.routing
import org.slf4j.event.Level

data class CityResponse(
    val countryIso: String,
    val id: Long,
    // Jackson takes the prefix for that of a getter.
    @get:JsonProperty("isFeatured") val isFeatured: Boolean,
    val name: String,
    val regionName: String
)

data class MultiCityResponse(val cities: List<CityResponse>)

data class ErrorResponse(val message: String)

fun Application.api(locations: Locations) {
    install(CallLogging) { level = Level.INFO }
    install(ContentNegotiation) { jackson() }
    install(StatusPages) {
        exception<BadRequestException> { call.fail(HttpStatusCode.BadRequest, it.message) }
        exception<NotFoundException> { call.fail(HttpStatusCode.NotFound, it.message) }
        exception<StoreUnavailable> {
            log.error(call.request.uri, it)
            call.fail(HttpStatusCode.ServiceUnavailable, "the database does not answer")
        }
        exception<Throwable> {
            log.error(call.request.uri, it)
            call.fail(HttpStatusCode.InternalServerError, "something went wrong")
        }
    }
    routing {
        route("/city/v1") { cities(locations) }
        val description = checkNotNull(Config::class.java.getResource("/api-docs.json")).readText()
        get("/api-docs") { call.respondText(description, ContentType.Application.Json) }
        route("{...}") { handle { throw NotFoundException("there is nothing here") } }
    }
}

private fun Route.cities(locations: Locations) {
    get("/get") {
        val language = call.language()
        call.respondCity(locations.get(call.id()), language)
    }
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
    }
    get("/associatedFeatured") {
        val language = call.language()
        call.respondCity(locations.associatedFeatured(call.id()), language)
    }
    get("/search") {
        val language = call.language()
        val text = call.required("query").ifBlank { throw BadRequestException("query is invalid") }
        call.respondCities(locations.search(text, language, call.parameters["countryIso"]), language)
    }
    get("/featured") {
        val language = call.language()
        call.respondCities(locations.featured(language), language)
    }
}

private fun ApplicationCall.required(name: String): String =
    parameters[name] ?: throw BadRequestException("$name is missing")

private fun ApplicationCall.language(): Language =
    Language.ofOrNull(required("language")) ?: throw BadRequestException("language is invalid")

private fun ApplicationCall.id(): Long = required("id").toLongOrNull() ?: throw BadRequestException("id is invalid")

private fun ApplicationCall.degrees(name: String, range: ClosedFloatingPointRange<Double>): Double? {
    val text = parameters[name] ?: return null
    return text.toDoubleOrNull()?.takeIf { it in range } ?: throw BadRequestException("$name is invalid")
}

/** Where the network in front of the service saw the visitor. It is a guess, so a senseless one is no error. */
private fun ApplicationCall.visitor(): Coordinates? {
    val lat = request.header("Fastly-Geo-Lat")?.toDoubleOrNull()?.takeIf { it in Coordinates.LATITUDES } ?: return null
    val lon = request.header("Fastly-Geo-Lon")?.toDoubleOrNull()?.takeIf { it in Coordinates.LONGITUDES } ?: return null
    return if (lat == 0.0 && lon == 0.0) null else Coordinates(lat, lon)
}

private suspend fun ApplicationCall.respondCity(place: Place?, language: Language) =
    respond(place?.toResponse(language) ?: throw NotFoundException("there is no such city"))

private suspend fun ApplicationCall.respondCities(places: List<Place>, language: Language) =
    respond(MultiCityResponse(places.map { it.toResponse(language) }))

private suspend fun ApplicationCall.fail(status: HttpStatusCode, message: String?) =
    respond(status, ErrorResponse(message ?: status.description))

private fun Place.toResponse(language: Language) = CityResponse(
    countryIso = city.countryIso,
    id = city.id,
    isFeatured = city.isFeatured,
    name = city.names.getValue(language),
    regionName = region.names.getValue(language)
)
