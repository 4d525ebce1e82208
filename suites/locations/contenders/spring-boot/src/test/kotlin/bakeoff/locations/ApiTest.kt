package bakeoff.locations

import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Test
import org.springframework.beans.factory.annotation.Autowired
import org.springframework.boot.test.context.SpringBootTest
import org.springframework.boot.test.context.TestConfiguration
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc
import org.springframework.context.annotation.Bean
import org.springframework.test.web.servlet.MockMvc
import org.springframework.test.web.servlet.get
import tools.jackson.databind.JsonNode
import tools.jackson.module.kotlin.jacksonObjectMapper

@SpringBootTest(classes = [Application::class, FakeConfiguration::class])
@AutoConfigureMockMvc
class ApiTest(@Autowired private val service: MockMvc) {
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
        "/error" to """404 {"message":"there is nothing here"}""",
    )

    @Test
    fun `finds the closest city`() {
        fun idFor(path: String, headers: Map<String, String> = emptyMap()) = json(path, headers).required("id").asLong()

        fun idFrom(lat: String, lon: String) =
            idFor("/city/v1/closest?language=cs", mapOf("Fastly-Geo-Lat" to lat, "Fastly-Geo-Lon" to lon))

        assertEquals(2, idFor("/city/v1/closest?lat=50&lon=14&language=cs"))
        assertEquals(1, idFrom("50", "14"))
        assertEquals(Language.CS.defaultCityId, idFrom("0", "0"))
        assertEquals(Language.CS.defaultCityId, idFrom("somewhere", "192"))
        assertEquals(1, idFor("/city/v1/associatedFeatured?id=2&language=cs"))
    }

    @Test
    fun `describes itself`() {
        val description = json("/api-docs")
        assertEquals(
            listOf("associatedFeatured", "closest", "featured", "get", "search").map { "/city/v1/$it" },
            description.required("paths").propertyNames().sorted(),
        )
        val schemas = description.required("components").required("schemas")
        assertEquals(
            listOf("CityResponse", "ErrorResponse", "MultiCityResponse"),
            schemas.propertyNames().sorted(),
        )
        assertEquals(
            listOf("countryIso", "id", "isFeatured", "name", "regionName"),
            schemas.required("CityResponse").required("required").values().map { it.asString() }.sorted(),
        )
        val responses = description.required("paths").required("/city/v1/get").required("get").required("responses")
        assertEquals(listOf("200", "400", "404"), responses.propertyNames().sorted())
    }

    private fun json(path: String, headers: Map<String, String> = emptyMap()): JsonNode {
        val answer = service.get(path) { headers { headers.forEach { (name, value) -> set(name, value) } } }.andReturn()
        return jacksonObjectMapper().readTree(answer.response.contentAsByteArray)
    }

    private fun check(vararg answers: Pair<String, String>) = answers.forEach { (path, expected) ->
        val answer = service.get(path).andReturn().response
        assertEquals(expected, "${answer.status} ${answer.contentAsString}", path)
        assertEquals("application/json", answer.contentType, path)
    }

}

@TestConfiguration
class FakeConfiguration {
    @Bean
    fun store(): Store = FakeStore
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
