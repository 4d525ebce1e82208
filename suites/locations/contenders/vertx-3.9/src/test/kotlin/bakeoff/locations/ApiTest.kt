package bakeoff.locations

import io.vertx.core.Vertx
import io.vertx.core.json.JsonObject
import io.vertx.kotlin.core.closeAwait
import io.vertx.kotlin.core.deployVerticleAwait
import kotlinx.coroutines.runBlocking
import org.apache.http.client.methods.HttpGet
import org.apache.http.impl.client.HttpClients
import org.apache.http.util.EntityUtils
import org.junit.jupiter.api.AfterAll
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.BeforeAll
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestInstance

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ApiTest {
    private val vertx = Vertx.vertx()
    private val service = Service(Locations(FakeStore), Gate(), port = 0)
    private val client = HttpClients.createDefault()

    @BeforeAll
    fun start() = runBlocking<Unit> { vertx.deployVerticleAwait(service) }

    @AfterAll
    fun stop() = runBlocking {
        vertx.closeAwait()
        client.close()
    }

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
    fun `finds the closest city`() {
        fun idFor(path: String, vararg headers: Pair<String, String>) = json(path, *headers).getLong("id")

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
    fun `is as it describes itself`() {
        val description = json("/api-docs")
        val schemas = description.getJsonObject("components").getJsonObject("schemas")
        val paths = description.getJsonObject("paths")
        assertEquals(
            listOf("associatedFeatured", "closest", "featured", "get", "search").map { "/city/v1/$it" },
            paths.fieldNames().sorted()
        )
        paths.fieldNames().forEach { path ->
            val operation = paths.getJsonObject(path).getJsonObject("get")
            val required = operation.getJsonArray("parameters").map { it as JsonObject }
                .filter { it.getBoolean("required") }
                .map { it.getString("name") }
            val examples = mapOf("id" to "1", "language" to "cs", "query" to "b")
            fun call(names: List<String>) = get(names.joinToString("&", "$path?") { "$it=${examples.getValue(it)}" })

            required.forEach { assertEquals("""{"message":"$it is missing"}""", call(required - it).text) }
            val answer = call(required)
            assertEquals(200, answer.status, path)
            val schema = operation.getJsonObject("responses").getJsonObject("200").schema()
            assertEquals(schemas.required(schema), JsonObject(answer.text).fieldNames(), path)
        }
        assertEquals(schemas.required("CityResponse"), json("/city/v1/get?id=1&language=cs").fieldNames())
        assertEquals(schemas.required("ErrorResponse"), json("/city/v1/get").fieldNames())
        assertTrue(schemas.fieldNames().containsAll(listOf("CityResponse", "ErrorResponse", "MultiCityResponse")))
    }

    private fun JsonObject.schema() = getJsonObject("content").getJsonObject("application/json")
        .getJsonObject("schema").getString("\$ref").substringAfterLast('/')

    private fun JsonObject.required(schema: String) = getJsonObject(schema).getJsonArray("required").toSet()

    private fun json(path: String, vararg headers: Pair<String, String>) = JsonObject(get(path, *headers).text)

    private fun check(vararg answers: Pair<String, String>) = answers.forEach { (path, expected) ->
        val answer = get(path)
        assertEquals(expected, "${answer.status} ${answer.text}", path)
        assertEquals("application/json", answer.type, path)
    }

    private class Answer(val status: Int, val type: String, val text: String)

    private fun get(path: String, vararg headers: Pair<String, String>): Answer {
        val request = HttpGet("http://127.0.0.1:${service.actualPort}$path")
        headers.forEach { (name, value) -> request.addHeader(name, value) }
        return client.execute(request).use {
            Answer(it.statusLine.statusCode, it.getFirstHeader("Content-Type").value, EntityUtils.toString(it.entity))
        }
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

    private fun names(name: String) = Language.values().associate { it to "$name-${it.code}" }
}
