package bakeoff.locations

import io.swagger.v3.oas.annotations.Operation
import io.swagger.v3.oas.annotations.Parameter
import io.swagger.v3.oas.annotations.media.Content
import io.swagger.v3.oas.annotations.media.Schema
import io.swagger.v3.oas.annotations.responses.ApiResponse
import io.swagger.v3.oas.annotations.tags.Tag
import org.springframework.core.convert.converter.Converter
import org.springframework.http.MediaType.APPLICATION_JSON_VALUE
import org.springframework.stereotype.Component
import org.springframework.web.bind.annotation.GetMapping
import org.springframework.web.bind.annotation.RequestHeader
import org.springframework.web.bind.annotation.RequestMapping
import org.springframework.web.bind.annotation.RequestParam
import org.springframework.web.bind.annotation.RestController

data class CityResponse(
    val countryIso: String,
    val id: Long,
    val isFeatured: Boolean,
    val name: String,
    val regionName: String,
)

data class MultiCityResponse(val cities: List<CityResponse>)

data class ErrorResponse(val message: String)

/** A parameter that cannot be; the message is for the caller. */
class BadRequest(message: String) : RuntimeException(message)

class NoSuchCity : RuntimeException("there is no such city")

/** Says in the description of an endpoint that there may be no such city. */
@ApiResponse(
    responseCode = "404",
    description = "no such city",
    content = [Content(schema = Schema(implementation = ErrorResponse::class))],
)
@Target(AnnotationTarget.FUNCTION)
annotation class NotFoundResponse

@RestController
@RequestMapping("/city/v1", produces = [APPLICATION_JSON_VALUE])
@Tag(name = "city")
@ApiResponse(responseCode = "200", description = "found")
@ApiResponse(
    responseCode = "400",
    description = "a parameter is missing or wrong",
    content = [Content(schema = Schema(implementation = ErrorResponse::class))],
)
class CityController(private val locations: Locations) {
    @GetMapping("/get")
    @Operation(summary = "A city by its id.")
    @NotFoundResponse
    fun get(
        @RequestParam @Parameter(description = ID) id: Long,
        @RequestParam @Parameter(description = LANGUAGE, schema = Schema(type = "string")) language: Language,
    ): CityResponse = one(locations.get(id), language)

    @GetMapping("/closest")
    @Operation(summary = "The city at or closest to a point, or to the visitor.")
    @NotFoundResponse
    fun closest(
        @RequestParam @Parameter(description = LANGUAGE, schema = Schema(type = "string")) language: Language,
        @RequestParam @Parameter(description = "Latitude in degrees, only together with lon.") lat: Double?,
        @RequestParam @Parameter(description = "Longitude in degrees, only together with lat.") lon: Double?,
        @RequestHeader("Fastly-Geo-Lat") @Parameter(description = VISITOR) visitorLat: String?,
        @RequestHeader("Fastly-Geo-Lon") @Parameter(description = VISITOR) visitorLon: String?,
    ): CityResponse {
        if (lat != null && lat !in Coordinates.LATITUDES) throw BadRequest("lat is invalid")
        if (lon != null && lon !in Coordinates.LONGITUDES) throw BadRequest("lon is invalid")
        val place = when {
            lat != null && lon != null -> locations.closest(Coordinates(lat, lon))
            lat == null && lon == null -> locations.closestForVisitor(visitor(visitorLat, visitorLon), language)
            else -> throw BadRequest("lat and lon must be given together")
        }
        return one(place, language)
    }

    @GetMapping("/associatedFeatured")
    @Operation(summary = "The featured city a city belongs to.")
    @NotFoundResponse
    fun associatedFeatured(
        @RequestParam @Parameter(description = ID) id: Long,
        @RequestParam @Parameter(description = LANGUAGE, schema = Schema(type = "string")) language: Language,
    ): CityResponse = one(locations.associatedFeatured(id), language)

    @GetMapping("/search")
    @Operation(summary = "Cities whose name begins like this, best first.")
    fun search(
        @RequestParam @Parameter(description = "Beginning of a name.") query: String,
        @RequestParam @Parameter(description = LANGUAGE, schema = Schema(type = "string")) language: Language,
        @RequestParam @Parameter(description = "Only cities of this country, such as CZ.") countryIso: String?,
    ): MultiCityResponse {
        if (query.isBlank()) throw BadRequest("query is invalid")
        return many(locations.search(query, language, countryIso), language)
    }

    @GetMapping("/featured")
    @Operation(summary = "Featured cities, those at home first.")
    fun featured(
        @RequestParam @Parameter(description = LANGUAGE, schema = Schema(type = "string")) language: Language,
    ): MultiCityResponse = many(locations.featured(language), language)
}

private const val ID = "Id of a city."
private const val LANGUAGE = "One of cs, de, en, pl, sk."
private const val VISITOR = "Where the visitor seems to be; 0, 0 if unknown."

/** Without it Spring would look for the names of the constants, which are upper-case. */
@Component
class LanguageConverter : Converter<String, Language> {
    override fun convert(source: String): Language =
        requireNotNull(Language.ofOrNull(source)) { "unknown language $source" }
}

/** Where the network in front of the service saw the visitor. It is a guess, so a senseless one is no error. */
private fun visitor(lat: String?, lon: String?): Coordinates? {
    val knownLat = lat?.toDoubleOrNull()?.takeIf { it in Coordinates.LATITUDES } ?: return null
    val knownLon = lon?.toDoubleOrNull()?.takeIf { it in Coordinates.LONGITUDES } ?: return null
    return if (knownLat == 0.0 && knownLon == 0.0) null else Coordinates(knownLat, knownLon)
}

private fun one(place: Place?, language: Language): CityResponse = place?.toResponse(language) ?: throw NoSuchCity()

private fun many(places: List<Place>, language: Language) = MultiCityResponse(places.map { it.toResponse(language) })

private fun Place.toResponse(language: Language) = CityResponse(
    countryIso = city.countryIso,
    id = city.id,
    isFeatured = city.isFeatured,
    name = city.names.getValue(language),
    regionName = region.names.getValue(language),
)
