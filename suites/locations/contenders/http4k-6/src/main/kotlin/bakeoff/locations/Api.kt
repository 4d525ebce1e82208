package bakeoff.locations

import org.http4k.core.Body
import org.http4k.core.ContentType.Companion.APPLICATION_JSON
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.Status.Companion.BAD_REQUEST
import org.http4k.core.Status.Companion.INTERNAL_SERVER_ERROR
import org.http4k.core.Status.Companion.NOT_FOUND
import org.http4k.core.Status.Companion.OK
import org.http4k.core.Status.Companion.SERVICE_UNAVAILABLE
import org.http4k.core.then
import org.http4k.core.with
import org.http4k.filter.ServerFilters.CatchLensFailure
import org.http4k.format.Jackson.auto
import org.http4k.lens.Header
import org.http4k.lens.LensFailure
import org.http4k.lens.Missing
import org.http4k.lens.Query
import org.http4k.lens.double
import org.http4k.lens.long
import org.http4k.routing.bind
import org.http4k.routing.orElse
import org.http4k.routing.routes

data class CityResponse(
    val countryIso: String,
    val id: Long,
    val isFeatured: Boolean,
    val name: String,
    val regionName: String,
)

data class MultiCityResponse(val cities: List<CityResponse>)

data class ErrorResponse(val message: String)

/** The whole service. */
fun api(locations: Locations): HttpHandler = catchErrors
    .then(CatchLensFailure(::badRequest))
    .then(
        routes(
            "/city/v1" bind cities(locations),
            "/api-docs" bind GET to description(),
            orElse bind { failure(NOT_FOUND, "there is nothing here") },
        ),
    )

private fun description(): HttpHandler {
    val text = checkNotNull(Config::class.java.getResource("/api-docs.json")).readText()
    return { Response(OK).with(Header.CONTENT_TYPE of APPLICATION_JSON).body(text) }
}

private fun cities(locations: Locations) = routes(
    "/get" bind GET to {
        val language = language(it)
        one(locations.get(id(it)), language)
    },
    "/closest" bind GET to { closest(it, locations) },
    "/associatedFeatured" bind GET to {
        val language = language(it)
        one(locations.associatedFeatured(id(it)), language)
    },
    "/search" bind GET to {
        val language = language(it)
        many(locations.search(text(it), language, countryIso(it)), language)
    },
    "/featured" bind GET to {
        val language = language(it)
        many(locations.featured(language), language)
    },
)

private val id = Query.long().required("id")
private val language = Query.map(Language.Companion::of).required("language")
private val text = Query.map { it.also { require(it.isNotBlank()) } }.required("query")
private val countryIso = Query.optional("countryIso")
private val lat = Query.double().map { it.also { require(it in Coordinates.LATITUDES) } }.optional("lat")
private val lon = Query.double().map { it.also { require(it in Coordinates.LONGITUDES) } }.optional("lon")
private val visitorLat = Header.optional("Fastly-Geo-Lat")
private val visitorLon = Header.optional("Fastly-Geo-Lon")

private val oneCity = Body.auto<CityResponse>().toLens()
private val manyCities = Body.auto<MultiCityResponse>().toLens()
private val error = Body.auto<ErrorResponse>().toLens()

private fun closest(request: Request, locations: Locations): Response {
    val language = language(request)
    val lat = lat(request)
    val lon = lon(request)
    val place = when {
        lat != null && lon != null -> locations.closest(Coordinates(lat, lon))
        lat == null && lon == null -> locations.closestForVisitor(visitor(request), language)
        else -> return badRequest("lat and lon must be given together")
    }
    return one(place, language)
}

/** Where the network in front of the service saw the visitor. It is a guess, so a senseless one is no error. */
private fun visitor(request: Request): Coordinates? {
    val lat = visitorLat(request)?.toDoubleOrNull()?.takeIf { it in Coordinates.LATITUDES } ?: return null
    val lon = visitorLon(request)?.toDoubleOrNull()?.takeIf { it in Coordinates.LONGITUDES } ?: return null
    return if (lat == 0.0 && lon == 0.0) null else Coordinates(lat, lon)
}

private fun one(place: Place?, language: Language): Response =
    place?.let { Response(OK).with(oneCity of it.toResponse(language)) }
        ?: failure(NOT_FOUND, "there is no such city")

private fun many(places: List<Place>, language: Language): Response =
    Response(OK).with(manyCities of MultiCityResponse(places.map { it.toResponse(language) }))

private fun Place.toResponse(language: Language) = CityResponse(
    countryIso = city.countryIso,
    id = city.id,
    isFeatured = city.isFeatured,
    name = city.names.getValue(language),
    regionName = region.names.getValue(language),
)

private fun badRequest(failure: LensFailure) = badRequest(
    failure.failures.joinToString { "${it.meta.name} is ${if (it is Missing) "missing" else "invalid"}" },
)

private fun failure(status: Status, message: String) = Response(status).with(error of ErrorResponse(message))

private fun badRequest(message: String) = failure(BAD_REQUEST, message)

fun unavailable(message: String) = failure(SERVICE_UNAVAILABLE, message)

fun internalError() = failure(INTERNAL_SERVER_ERROR, "something went wrong")
