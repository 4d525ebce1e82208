package bakeoff.locations

import io.ktor.client.HttpClient
import io.ktor.client.request.get
import io.ktor.client.request.header
import io.ktor.client.statement.bodyAsText
import io.ktor.http.HttpHeaders
import io.ktor.server.testing.testApplication
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
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
    fun `finds the closest city`() = testService {
        suspend fun idFor(path: String, visitor: Pair<String, String>? = null): Long {
            val answer = get(path) {
                visitor?.let { (lat, lon) ->
                    header("Fastly-Geo-Lat", lat)
                    header("Fastly-Geo-Lon", lon)
                }
            }
            return Json.decodeFromString<CityResponse>(answer.bodyAsText()).id
        }

        assertEquals(2, idFor("/city/v1/closest?lat=50&lon=14&language=cs"))
        assertEquals(1, idFor("/city/v1/closest?language=cs", "50" to "14"))
        assertEquals(Language.CS.defaultCityId, idFor("/city/v1/closest?language=cs", "0" to "0"))
        assertEquals(Language.CS.defaultCityId, idFor("/city/v1/closest?language=cs", "somewhere" to "192"))
        assertEquals(1, idFor("/city/v1/associatedFeatured?id=2&language=cs"))
    }

    @Test
    fun `describes itself`() = testService {
        val description = Json.parseToJsonElement(get("/api-docs").bodyAsText()).jsonObject
        assertEquals(
            listOf("associatedFeatured", "closest", "featured", "get", "search").map { "/city/v1/$it" },
            description.getValue("paths").jsonObject.keys.sorted(),
        )
        assertEquals(
            setOf("CityResponse", "ErrorResponse", "MultiCityResponse"),
            description.getValue("components").jsonObject.getValue("schemas").jsonObject.keys,
        )
    }

    private fun check(vararg answers: Pair<String, String>) = testService {
        answers.forEach { (path, expected) ->
            val answer = get(path)
            assertEquals(expected, "${answer.status.value} ${answer.bodyAsText()}", path)
            assertEquals("application/json", answer.headers[HttpHeaders.ContentType], path)
        }
    }

    private fun testService(test: suspend HttpClient.() -> Unit) = testApplication {
        application { api(Locations(FakeStore)) }
        client.test()
    }
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

    private fun names(name: String) = Language.entries.associateWith { "$name-${it.code}" }
}
