package bakeoff.locations

import io.vertx.core.Vertx
import io.vertx.kotlin.coroutines.coAwait
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.boolean
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance
import java.net.URI
import java.net.http.HttpClient
import java.net.http.HttpRequest
import java.net.http.HttpResponse

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiTest {
    private val vertx = Vertx.vertx()
    private val service = Service(Locations(FakeStore), port = 0)
    private val client = HttpClient.newHttpClient()

    @BeforeAll
    fun start() = runBlocking<Unit> { vertx.deployVerticle(service).coAwait() }

    @AfterAll
    fun stop() = runBlocking<Unit> { vertx.close().coAwait() }

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
        fun idFor(path: String, vararg headers: String): Long =
            Json.decodeFromString<CityResponse>(get(path, *headers).body()).id

        fun idFrom(lat: String, lon: String) =
            idFor("/city/v1/closest?language=cs", "Fastly-Geo-Lat", lat, "Fastly-Geo-Lon", lon)

        assertEquals(2, idFor("/city/v1/closest?lat=50&lon=14&language=cs"))
        assertEquals(1, idFrom("50", "14"))
        assertEquals(Language.CS.defaultCityId, idFrom("0", "0"))
        assertEquals(Language.CS.defaultCityId, idFrom("somewhere", "192"))
        assertEquals(1, idFor("/city/v1/associatedFeatured?id=2&language=cs"))
    }

    /** Each operation of the description is called as described: without a required parameter, and with all of them. */
    @Test
    fun `is as it describes itself`() {
        val description = json("/api-docs")
        val paths = description.getValue("paths").jsonObject
        assertEquals(
            listOf("associatedFeatured", "closest", "featured", "get", "search").map { "/city/v1/$it" },
            paths.keys.sorted(),
        )
        val schemas = description.getValue("components").jsonObject.getValue("schemas").jsonObject
        paths.forEach { (path, item) ->
            val operation = item.jsonObject.getValue("get").jsonObject
            val required = operation.getValue("parameters").jsonArray.map { it.jsonObject }
                .filter { it.getValue("required").jsonPrimitive.boolean }
                .map { it.getValue("name").jsonPrimitive.content }
            val examples = mapOf("id" to "1", "language" to "cs", "query" to "b")
            fun call(names: List<String>) = get(names.joinToString("&", "$path?") { "$it=${examples.getValue(it)}" })

            required.forEach { assertEquals("""{"message":"$it is missing"}""", call(required - it).body()) }
            val answer = call(required)
            assertEquals(200, answer.statusCode(), path)
            val schema = operation.getValue("responses").jsonObject.getValue("200").schema()
            assertEquals(schemas.required(schema), Json.parseToJsonElement(answer.body()).jsonObject.keys, path)
        }
        assertEquals(schemas.required("CityResponse"), json("/city/v1/get?id=1&language=cs").keys)
        assertEquals(schemas.required("ErrorResponse"), json("/city/v1/get").keys)
        assertTrue(schemas.keys.containsAll(listOf("CityResponse", "ErrorResponse", "MultiCityResponse")))
    }

    private fun Any.schema() = (this as JsonObject).getValue("content").jsonObject.getValue("application/json")
        .jsonObject.getValue("schema").jsonObject.getValue("\$ref").jsonPrimitive.content.substringAfterLast('/')

    private fun JsonObject.required(schema: String) =
        getValue(schema).jsonObject.getValue("required").jsonArray.map { it.jsonPrimitive.content }.toSet()

    private fun json(path: String) = Json.parseToJsonElement(get(path).body()).jsonObject

    private fun check(vararg answers: Pair<String, String>) = answers.forEach { (path, expected) ->
        val answer = get(path)
        assertEquals(expected, "${answer.statusCode()} ${answer.body()}", path)
        assertEquals("application/json", answer.headers().firstValue("Content-Type").get(), path)
    }

    private fun get(path: String, vararg headers: String): HttpResponse<String> {
        val request = HttpRequest.newBuilder(URI("http://127.0.0.1:${service.actualPort}$path"))
        if (headers.isNotEmpty()) request.headers(*headers)
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString())
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
