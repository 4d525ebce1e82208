package bakeoff.locations

import io.ktor.http.HttpStatusCode
import io.ktor.openapi.OpenApiDoc
import io.ktor.openapi.OpenApiInfo
import io.ktor.openapi.Operation
import io.ktor.openapi.Parameters
import io.ktor.openapi.Responses
import io.ktor.openapi.jsonSchema
import io.ktor.server.response.respond
import io.ktor.server.routing.Route
import io.ktor.server.routing.get
import io.ktor.server.routing.openapi.plus

/** Serves the OpenAPI description of [described], put together once the first reader comes. */
internal fun Route.apiDocs(described: Route) {
    val info = OpenApiInfo(
        title = "Locations",
        version = "1.0",
        description = "Cities and their regions, in five languages.",
    )
    // Nothing below needs OpenAPI 3.1, and more tools read 3.0.
    val document by lazy { OpenApiDoc(openapi = "3.0.3", info = info) + described.descendants() }
    get("/api-docs") { call.respond(document) }
}

internal fun Operation.Builder.describeGet() {
    about("A city by its id.")
    parameters {
        id()
        language()
    }
    responses { city() }
}

internal fun Operation.Builder.describeClosest() {
    about("The city at or closest to a point, or to the visitor.")
    parameters {
        language()
        optional<Double>("lat", "Latitude in degrees, only together with lon.")
        optional<Double>("lon", "Longitude in degrees, only together with lat.")
        for (name in listOf(VISITOR_LAT, VISITOR_LON)) {
            header(name) {
                description = "Where the visitor seems to be; 0, 0 if unknown."
                schema = jsonSchema<Double>()
            }
        }
    }
    responses { city() }
}

internal fun Operation.Builder.describeAssociatedFeatured() {
    about("The featured city a city belongs to.")
    parameters {
        id()
        language()
    }
    responses { city() }
}

internal fun Operation.Builder.describeSearch() {
    about("Cities whose name begins like this, best first.")
    parameters {
        required<String>("query", "Beginning of a name.")
        language()
        optional<String>("countryIso", "Only cities of this country, such as CZ.")
    }
    responses { cities() }
}

internal fun Operation.Builder.describeFeatured() {
    about("Featured cities, those at home first.")
    parameters { language() }
    responses { cities() }
}

private fun Operation.Builder.about(what: String) {
    summary = what
    tag("city")
}

private fun Parameters.Builder.id() = required<Long>("id", "Id of a city.")

private fun Parameters.Builder.language() =
    required<String>("language", "One of ${Language.entries.joinToString { it.code }}.")

private inline fun <reified T : Any> Parameters.Builder.required(name: String, what: String) = query(name) {
    description = what
    required = true
    schema = jsonSchema<T>()
}

private inline fun <reified T : Any> Parameters.Builder.optional(name: String, what: String) = query(name) {
    description = what
    schema = jsonSchema<T>()
}

private fun Responses.Builder.city() {
    body<CityResponse>(HttpStatusCode.OK, "the city")
    body<ErrorResponse>(HttpStatusCode.BadRequest, "a parameter is missing or wrong")
    body<ErrorResponse>(HttpStatusCode.NotFound, "no such city")
}

private fun Responses.Builder.cities() {
    body<MultiCityResponse>(HttpStatusCode.OK, "the cities")
    body<ErrorResponse>(HttpStatusCode.BadRequest, "a parameter is missing or wrong")
}

private inline fun <reified T : Any> Responses.Builder.body(status: HttpStatusCode, what: String) =
    response(status.value) {
        description = what
        schema = jsonSchema<T>()
    }
