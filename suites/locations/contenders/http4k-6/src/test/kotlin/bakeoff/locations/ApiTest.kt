package bakeoff.locations

import com.fasterxml.jackson.databind.JsonNode
import org.http4k.core.Method.GET
import org.http4k.core.Request
import org.http4k.core.Response
import org.http4k.format.Jackson
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ApiTest {
    @Test
    fun `answers a city in the language asked for`() = check(
        "/city/v1/get?id=1&language=cs&extra=1" to
            """200 {"countryIso":"CZ","id":1,"isFeatured":true,"name":"big-cs","regionName":"region-cs"}""",
        "/city/v1/search?query=sm&language=de" to
            """200 {"cities":[{"countryIso":"CZ","id":2,"isFeatured":false,"name":"small-de","regionName":"region-de"}]}""",
    )

    @Test
    fun `refuses what it does not understand`() = check(
        "/city/v1/get?id=1" to """400 {"message":"language is missing"}""",
        "/city/v1/get?id=x&language=cs" to """400 {"message":"id is invalid"}""",
        "/city/v1/get?id=1&language=xx" to """400 {"message":"language is invalid"}""",
        "/city/v1/search?query=&language=cs" to """400 {"message":"query is invalid"}""",
        "/city/v1/closest?lat=50&language=cs" to """400 {"message":"lat and lon must be given together"}""",
        "/city/v1/closest?lat=-90.3&lon=14&language=cs" to """400 {"message":"lat is invalid"}""",
        "/city/v1/closest?lat=NaN&lon=14&language=cs" to """400 {"message":"lat is invalid"}""",
        "/city/v1/get?id=3&language=cs" to """404 {"message":"there is no such city"}""",
        "/nowhere" to """404 {"message":"there is nothing here"}""",
    )

    @Test
    fun `finds the closest city`() {
        val app = api(Locations(FakeStore))
        fun idFor(request: Request) = Jackson.parse(app(request).bodyString())["id"].asLong()
        fun from(lat: String, lon: String) = Request(GET, "/city/v1/closest?language=cs")
            .header("Fastly-Geo-Lat", lat).header("Fastly-Geo-Lon", lon)

        assertEquals(2, idFor(Request(GET, "/city/v1/closest?lat=50&lon=14&language=cs")))
        assertEquals(1, idFor(from("50", "14")))
        assertEquals(Language.CS.defaultCityId, idFor(from("0", "0")))
        assertEquals(Language.CS.defaultCityId, idFor(from("somewhere", "192")))
        assertEquals(1, idFor(Request(GET, "/city/v1/associatedFeatured?id=2&language=cs")))
    }

    /** Each operation of the description is called as described: without a required parameter, and with all of them. */
    @Test
    fun `is as it describes itself`() {
        val app = api(Locations(FakeStore))
        fun get(path: String) = app(Request(GET, path))
        fun json(path: String) = Jackson.parse(get(path).bodyString())

        val description = json("/api-docs")
        val schemas = description["components"]["schemas"]
        val paths = description["paths"]
        assertEquals(
            listOf("associatedFeatured", "closest", "featured", "get", "search").map { "/city/v1/$it" },
            paths.keys().sorted(),
        )
        paths.keys().forEach { path ->
            val operation = paths[path]["get"]
            val required = operation["parameters"].filter { it["required"].asBoolean() }.map { it["name"].asText() }
            val examples = mapOf("id" to "1", "language" to "cs", "query" to "b")
            fun call(names: List<String>) = get(names.joinToString("&", "$path?") { "$it=${examples.getValue(it)}" })

            required.forEach { assertEquals("""{"message":"$it is missing"}""", call(required - it).bodyString()) }
            val answer = call(required)
            assertEquals(200, answer.status.code, path)
            val schema = operation["responses"]["200"]["content"]["application/json"]["schema"]["\$ref"].asText()
            assertEquals(
                schemas.requiredOf(schema.substringAfterLast('/')),
                Jackson.parse(answer.bodyString()).keys(),
                path,
            )
        }
        assertEquals(schemas.requiredOf("CityResponse"), json("/city/v1/get?id=1&language=cs").keys())
        assertEquals(schemas.requiredOf("ErrorResponse"), json("/city/v1/get").keys())
        assertTrue(schemas.keys().containsAll(listOf("CityResponse", "ErrorResponse", "MultiCityResponse")))
    }

    private fun JsonNode.keys() = fieldNames().asSequence().toSet()

    private fun JsonNode.requiredOf(schema: String) = this[schema]["required"].map { it.asText() }.toSet()

    private fun check(vararg answers: Pair<String, String>) {
        val app = api(Locations(FakeStore))
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

    private fun names(name: String) = Language.entries.associateWith { "$name-${it.code}" }
}
