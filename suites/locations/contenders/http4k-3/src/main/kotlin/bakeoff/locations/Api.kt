package bakeoff.locations

import org.http4k.contract.ErrorResponseRenderer
import org.http4k.contract.RouteMetaDsl
import org.http4k.contract.Tag
import org.http4k.contract.bindContract
import org.http4k.contract.contract
import org.http4k.contract.meta
import org.http4k.contract.openapi.ApiInfo
import org.http4k.contract.openapi.ApiRenderer
import org.http4k.contract.openapi.v3.OpenApi3
import org.http4k.core.Body
import org.http4k.core.HttpHandler
import org.http4k.core.Method.GET
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.core.Status
import org.http4k.core.Status.Companion.BAD_REQUEST
import org.http4k.core.Status.Companion.INTERNAL_SERVER_ERROR
import org.http4k.core.Status.Companion.NOT_FOUND
import org.http4k.core.Status.Companion.NOT_IMPLEMENTED
import org.http4k.core.Status.Companion.OK
import org.http4k.core.Status.Companion.SERVICE_UNAVAILABLE
import org.http4k.core.then
import org.http4k.core.with
import org.http4k.filter.ServerFilters.CatchLensFailure
import org.http4k.format.Jackson
import org.http4k.format.Jackson.auto
import org.http4k.lens.Header
import org.http4k.lens.Lens
import org.http4k.lens.LensFailure
import org.http4k.lens.Missing
import org.http4k.lens.Query
import org.http4k.lens.double
import org.http4k.lens.long
import org.http4k.routing.bind
import org.http4k.routing.routes

data class CityResponse(
    val countryIso: String,
    val id: Long,
    val isFeatured: Boolean,
    val name: String,
    val regionName: String
)

data class MultiCityResponse(val cities: List<CityResponse>)

data class ErrorResponse(val message: String)

/** The whole service, with the contract layer or on plain routes: the same answers either way. */
fun api(locations: Locations, withContract: Boolean): HttpHandler {
    val endpoints = endpoints(locations)
    return catchErrors.then(if (withContract) contracted(endpoints) else plain(endpoints))
}

private class Endpoint(val path: String, val describe: RouteMetaDsl.() -> Unit, val handler: HttpHandler)

private fun contracted(endpoints: List<Endpoint>) = contract {
    renderer = OpenApi3(
        ApiInfo("Locations", "1.0", "Cities and their regions, in five languages."),
        Jackson,
        apiRenderer = ApiRenderer.Auto(Jackson),
        errorResponseRenderer = jsonErrors
    )
    descriptionPath = "/api-docs"
    routes += endpoints.map { it.path meta it.describe bindContract GET to it.handler }
}

private fun plain(endpoints: List<Endpoint>): HttpHandler {
    val description = checkNotNull(Endpoint::class.java.getResource("/api-docs.json")).readText()
    val found = routes(
        "/api-docs" bind GET to { Response(OK).header("Content-Type", JSON).body(description) },
        *endpoints.map { it.path bind GET to CatchLensFailure(jsonErrors::badRequest).then(it.handler) }.toTypedArray()
    )
    return { request -> (found.match(request) ?: { jsonErrors.notFound() })(request) }
}

private val id = Query.long().required("id", "Id of a city.")
private val language = Query.map(Language.Companion::of).required("language", "One of cs, de, en, pl, sk.")
private val text = Query.map { it.also { require(it.isNotBlank()) } }.required("query", "Beginning of a name.")
private val countryIso = Query.optional("countryIso", "Only cities of this country, such as CZ.")
private val lat = Query.double().map { it.also { require(it in Coordinates.LATITUDES) } }
    .optional("lat", "Latitude in degrees, only together with lon.")
private val lon = Query.double().map { it.also { require(it in Coordinates.LONGITUDES) } }
    .optional("lon", "Longitude in degrees, only together with lat.")
private val visitorLat = Header.optional("Fastly-Geo-Lat", "Where the visitor seems to be; 0, 0 if unknown.")
private val visitorLon = Header.optional("Fastly-Geo-Lon", "Where the visitor seems to be; 0, 0 if unknown.")

private val oneCity = Body.auto<CityResponse>().toLens()
private val manyCities = Body.auto<MultiCityResponse>().toLens()
private val error = Body.auto<ErrorResponse>().toLens()

private val exampleCity = CityResponse("CZ", 101748111, true, "Plzeň", "Plzeňský kraj")
private val exampleError = ErrorResponse("language is missing")

private fun endpoints(locations: Locations) = listOf(
    Endpoint("/city/v1/get", describe("A city by its id.", id, language) { city() }) {
        val language = language(it)
        one(locations.get(id(it)), language)
    },
    Endpoint(
        "/city/v1/closest",
        describe("The city at or closest to a point, or to the visitor.", lat, lon, language) {
            headers += visitorLat
            headers += visitorLon
            city()
        }
    ) { closest(it, locations) },
    Endpoint(
        "/city/v1/associatedFeatured",
        describe("The featured city a city belongs to.", id, language) { city() }
    ) {
        val language = language(it)
        one(locations.associatedFeatured(id(it)), language)
    },
    Endpoint(
        "/city/v1/search",
        describe("Cities whose name begins like this, best first.", text, language, countryIso) { cities() }
    ) {
        val language = language(it)
        many(locations.search(text(it), language, countryIso(it)), language)
    },
    Endpoint("/city/v1/featured", describe("Featured cities, those at home first.", language) { cities() }) {
        val language = language(it)
        many(locations.featured(language), language)
    }
)

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

private fun describe(
    what: String,
    vararg parameters: Lens<Request, *>,
    more: RouteMetaDsl.() -> Unit
): RouteMetaDsl.() -> Unit = {
    summary = what
    description = what
    tags += Tag("city")
    parameters.forEach { queries += it }
    returning(BAD_REQUEST, error to exampleError, "a parameter is missing or wrong")
    more()
}

private fun RouteMetaDsl.city() {
    returning(OK, oneCity to exampleCity, "the city")
    returning(NOT_FOUND, error to ErrorResponse("there is no such city"), "no such city")
}

private fun RouteMetaDsl.cities() = returning(OK, manyCities to MultiCityResponse(listOf(exampleCity)), "the cities")

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
    regionName = region.names.getValue(language)
)

private const val JSON = "application/json; charset=utf-8"

private val jsonErrors = object : ErrorResponseRenderer {
    override fun badRequest(lensFailure: LensFailure) = badRequest(
        lensFailure.failures.joinToString { "${it.meta.name} is ${if (it is Missing) "missing" else "invalid"}" }
    )

    override fun notFound() = failure(NOT_FOUND, "there is nothing here")
}

private fun failure(status: Status, message: String) = Response(status).with(error of ErrorResponse(message))

fun badRequest(message: String) = failure(BAD_REQUEST, message)

fun notImplemented() = failure(NOT_IMPLEMENTED, "there is no such method")

fun unavailable(message: String) = failure(SERVICE_UNAVAILABLE, message)

fun internalError() = failure(INTERNAL_SERVER_ERROR, "something went wrong")
