package bakeoff.locations

import org.http4k.core.Method.GET
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.format.Jackson
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.junit.jupiter.params.ParameterizedTest
import org.junit.jupiter.params.provider.ValueSource

/** Each test runs with the contract layer and without it: the answers must be the same. */
class ApiTest {
    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun `answers a city in the language asked for`(withContract: Boolean) = check(
        withContract,
        "/city/v1/get?id=1&language=cs&extra=1" to
            """200 {"countryIso":"CZ","id":1,"isFeatured":true,"name":"big-cs","regionName":"region-cs"}""",
        "/city/v1/search?query=sm&language=de" to
            """200 {"cities":[{"countryIso":"CZ","id":2,"isFeatured":false,"name":"small-de","regionName":"region-de"}]}"""
    )

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun `refuses what it does not understand`(withContract: Boolean) = check(
        withContract,
        "/city/v1/get?id=1" to """400 {"message":"language is missing"}""",
        "/city/v1/get?id=x&language=cs" to """400 {"message":"id is invalid"}""",
        "/city/v1/get?id=1&language=xx" to """400 {"message":"language is invalid"}""",
        "/city/v1/search?query=&language=cs" to """400 {"message":"query is invalid"}""",
        "/city/v1/closest?lat=50&language=cs" to """400 {"message":"lat and lon must be given together"}""",
        "/city/v1/closest?lat=-90.3&lon=14&language=cs" to """400 {"message":"lat is invalid"}""",
        "/city/v1/closest?lat=NaN&lon=14&language=cs" to """400 {"message":"lat is invalid"}""",
        "/city/v1/get?id=3&language=cs" to """404 {"message":"there is no such city"}""",
        "/nowhere" to """404 {"message":"there is nothing here"}"""
    )

    @ParameterizedTest
    @ValueSource(booleans = [true, false])
    fun `finds the closest city`(withContract: Boolean) {
        val app = api(Locations(FakeStore), withContract)
        fun idFor(request: Request) = Jackson.parse(app(request).bodyString())["id"].asLong()
        fun from(lat: String, lon: String) = Request(GET, "/city/v1/closest?language=cs")
            .header("Fastly-Geo-Lat", lat).header("Fastly-Geo-Lon", lon)

        assertEquals(2, idFor(Request(GET, "/city/v1/closest?lat=50&lon=14&language=cs")))
        assertEquals(1, idFor(from("50", "14")))
        assertEquals(Language.CS.defaultCityId, idFor(from("0", "0")))
        assertEquals(Language.CS.defaultCityId, idFor(from("somewhere", "192")))
        assertEquals(1, idFor(Request(GET, "/city/v1/associatedFeatured?id=2&language=cs")))
    }

    @Test
    fun `describes itself alike with and without contract`() {
        fun description(withContract: Boolean) =
            Jackson.parse(api(Locations(FakeStore), withContract)(Request(GET, "/api-docs")).bodyString())

        assertEquals(description(withContract = true), description(withContract = false))
    }

    private fun check(withContract: Boolean, vararg answers: Pair<String, String>) {
        val app = api(Locations(FakeStore), withContract)
        answers.forEach { (path, expected) ->
            val response = app(Request(GET, path))
            assertEquals(expected, "${response.status.code} ${response.bodyString()}", path)
            assertEquals("application/json; charset=utf-8", response.contentType(), path)
        }
    }

    private fun Response.contentType() = header("content-type")
}

private object FakeStore : Store {
    private val big = city(1, "big", isFeatured = true)
    private val small = city(2, "small", isFeatured = false)
    private val default = city(Language.CS.defaultCityId, "default", isFeatured = true)

    override fun city(id: Long) = listOf(big, small, default).find { it.id == id }

    override fun region(id: Long) = Region(id, names("region"))

    override fun featuredCities(language: Language) = listOf(big)

    override fun searchCities(query: String, language: Language, countryIso: String?) =
        listOf(big, small).filter { it.names.getValue(language).startsWith(query) }

    override fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean) = if (onlyFeatured) big else small

    private fun city(id: Long, name: String, isFeatured: Boolean) =
        City(id, "CZ", regionId = 9, centroid = Coordinates(50.0, 14.0), isFeatured = isFeatured, names = names(name))

    private fun names(name: String) = Language.values().associate { it to "$name-${it.code}" }
}
