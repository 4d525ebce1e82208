package bakeoff.locations

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import io.ktor.http.HttpHeaders
import io.ktor.http.HttpMethod
import io.ktor.server.testing.TestApplicationEngine
import io.ktor.server.testing.TestApplicationResponse
import io.ktor.server.testing.handleRequest
import io.ktor.server.testing.withTestApplication
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

class ApiTest {
    private val json = ObjectMapper()

    @Test
    fun `answers a city in the language asked for`() = check(
        "/city/v1/get?id=1&language=cs&extra=1" to
            """200 {"countryIso":"CZ","id":1,"isFeatured":true,"name":"big-cs","regionName":"region-cs"}""",
        "/city/v1/search?query=sm&language=de" to
            """200 {"cities":[{"countryIso":"CZ","id":2,"isFeatured":false,"name":"small-de","regionName":"region-de"}]}"""
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
        "/nowhere" to """404 {"message":"there is nothing here"}"""
    )

    @Test
    fun `finds the closest city`() = testService {
        fun idFor(path: String, vararg headers: Pair<String, String>): Long =
            json.readTree(get(path, *headers).content)["id"].asLong()

        fun idFrom(lat: String, lon: String) =
            idFor("/city/v1/closest?language=cs", "Fastly-Geo-Lat" to lat, "Fastly-Geo-Lon" to lon)

        assertEquals(2, idFor("/city/v1/closest?lat=50&lon=14&language=cs"))
        assertEquals(1, idFrom("50", "14"))
        assertEquals(Language.CS.defaultCityId, idFrom("0", "0"))
        assertEquals(Language.CS.defaultCityId, idFrom("somewhere", "192"))
        assertEquals(1, idFor("/city/v1/associatedFeatured?id=2&language=cs"))
    }

    /** Each operation of the description is called as described: without a required parameter, and with all of them. */
    @Test
    fun `is as it describes itself`() = testService {
        val description = json.readTree(get("/api-docs").content)
        val schemas = description["components"]["schemas"]
        val paths = description["paths"]
        assertEquals(
            listOf("associatedFeatured", "closest", "featured", "get", "search").map { "/city/v1/$it" },
            paths.fieldNames().asSequence().toList().sorted()
        )
        paths.fields().forEach { (path, item) ->
            val operation = item["get"]
            val required = operation["parameters"].filter { it["required"].asBoolean() }.map { it["name"].asText() }
            val examples = mapOf("id" to "1", "language" to "cs", "query" to "b")
            fun call(names: List<String>) = get(names.joinToString("&", "$path?") { "$it=${examples.getValue(it)}" })

            required.forEach { assertEquals("""{"message":"$it is missing"}""", call(required - it).content) }
            val answer = call(required)
            assertEquals(200, answer.status()?.value, path)
            val schema = operation["responses"]["200"]["content"]["application/json"]["schema"]["\$ref"].asText()
            assertEquals(schemas.required(schema.substringAfterLast('/')), json.readTree(answer.content).keys(), path)
        }
        val city = get("/city/v1/get?id=1&language=cs").content
        assertEquals(schemas.required("CityResponse"), json.readTree(city).keys())
        assertEquals(schemas.required("ErrorResponse"), json.readTree(get("/city/v1/get").content).keys())
        assertTrue(schemas.keys().containsAll(listOf("CityResponse", "ErrorResponse", "MultiCityResponse")))
    }

    private fun JsonNode.keys() = fieldNames().asSequence().toSet()

    private fun JsonNode.required(schema: String) = this[schema]["required"].map { it.asText() }.toSet()

    private fun check(vararg answers: Pair<String, String>) = testService {
        answers.forEach { (path, expected) ->
            val answer = get(path)
            assertEquals(expected, "${answer.status()?.value} ${answer.content}", path)
            assertEquals("application/json; charset=UTF-8", answer.headers[HttpHeaders.ContentType], path)
        }
    }

    private fun testService(test: TestApplicationEngine.() -> Unit) =
        withTestApplication({ api(Locations(FakeStore)) }, test)

    private fun TestApplicationEngine.get(path: String, vararg headers: Pair<String, String>): TestApplicationResponse =
        handleRequest(HttpMethod.Get, path) { headers.forEach { (name, value) -> addHeader(name, value) } }.response
}

private object FakeStore : Store {
    private val big = city(1, "big", isFeatured = true)
    private val small = city(2, "small", isFeatured = false)
    private val default = city(Language.CS.defaultCityId, "default", isFeatured = true)

    override suspend fun city(id: Long) = listOf(big, small, default).find { it.id == id }

    override suspend fun region(id: Long) = Region(id, names("region"))

    override suspend fun featuredCities(language: Language) = listOf(big)

    override suspend fun searchCities(query: String, language: Language, countryIso: String?) =
        listOf(big, small).filter { it.names.getValue(language).startsWith(query) }

    override suspend fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean) = if (onlyFeatured) big else small

    private fun city(id: Long, name: String, isFeatured: Boolean) =
        City(id, "CZ", regionId = 9, centroid = Coordinates(50.0, 14.0), isFeatured = isFeatured, names = names(name))

    private fun names(name: String) = Language.values().associate { it to "$name-${it.code}" }
}
