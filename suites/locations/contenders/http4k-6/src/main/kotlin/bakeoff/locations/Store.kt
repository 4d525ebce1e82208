package bakeoff.locations

import com.fasterxml.jackson.databind.JsonNode
import org.apache.http.HttpHost
import org.elasticsearch.client.Request
import org.elasticsearch.client.RestClient
import org.http4k.format.Jackson
import org.http4k.format.Jackson.array
import org.http4k.format.Jackson.boolean
import org.http4k.format.Jackson.number
import org.http4k.format.Jackson.obj
import org.http4k.format.Jackson.string
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap

/**
 * The largest pool any engine can use: each of its threads holds at most one connection, and connections are opened
 * only when needed.
 */
private const val MAX_CONNECTIONS = 256
private const val CONNECT_TIMEOUT_MS = 2_000
private const val SOCKET_TIMEOUT_MS = 10_000

fun elasticClient(config: Config): RestClient = RestClient.builder(HttpHost(config.elasticHost, config.elasticPort))
    .setRequestConfigCallback { it.setConnectTimeout(CONNECT_TIMEOUT_MS).setSocketTimeout(SOCKET_TIMEOUT_MS) }
    .setHttpClientConfigCallback { it.setMaxConnTotal(MAX_CONNECTIONS).setMaxConnPerRoute(MAX_CONNECTIONS) }
    .build()

/** Reads cities anew for each request and remembers regions, which are few and never change. */
class ElasticStore(private val client: RestClient) : Store {
    private val regions = ConcurrentHashMap<Long, Region>()

    /** Fails unless Elasticsearch answers. */
    fun ping() {
        perform(Request("GET", "/"))
    }

    override fun city(id: Long): City? = source("/city/_doc/$id", "geometry,population")?.toCity()

    // Not computeIfAbsent: it would hold a lock during the request. Loading a region twice does no harm.
    override fun region(id: Long): Region? =
        regions[id] ?: source("/region/_doc/$id", "geometry")?.toRegion()?.also { regions[id] = it }

    override fun featuredCities(language: Language): List<City> = search(featuredQuery(language))

    override fun searchCities(query: String, language: Language, countryIso: String?): List<City> =
        search(nameQuery(query, language, countryIso))

    override fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean): City? =
        search(closestQuery(coordinates, onlyFeatured)).firstOrNull()

    private fun source(path: String, excludes: String): JsonNode? = perform(
        Request("GET", path).apply {
            addParameter("_source_excludes", excludes)
            addParameter("ignore", "404")
        },
    )["_source"]

    private fun search(query: JsonNode): List<City> =
        perform(Request("POST", "/city/_search").apply { setJsonEntity(Jackson.compact(query)) })
            .path("hits").path("hits").map { it["_source"].toCity() }

    private fun perform(request: Request): JsonNode = try {
        client.performRequest(request).entity.content.use { Jackson.mapper.readTree(it) }
    } catch (e: IOException) {
        throw StoreUnavailable("elasticsearch did not answer ${request.method} ${request.endpoint}", e)
    }
}

private fun JsonNode.toCity() = City(
    id = required("id").asLong(),
    countryIso = required("countryIso").asText(),
    regionId = required("regionId").asLong(),
    centroid = required("centroid").run { Coordinates(required("lat").asDouble(), required("lon").asDouble()) },
    isFeatured = required("isFeatured").asBoolean(),
    names = names(),
)

private fun JsonNode.toRegion() = Region(id = required("id").asLong(), names = names())

private fun JsonNode.names(): Names = Language.entries.associate { it to required("name.${it.code}").asText() }

private const val MAX_FEATURED = 1_000
private const val MAX_FOUND = 10
private const val POPULATION_IF_MISSING = 500

private val excludedFromSource = "_source" to obj("excludes" to array(listOf(string("geometry"), string("population"))))
private val isFeatured = obj("term" to obj("isFeatured" to boolean(true)))
private val anyCity = obj("match_all" to obj())

/** Cities of the language's own country score 1 and all others 0. */
internal fun featuredQuery(language: Language): JsonNode {
    val ownCountry = obj("filter" to obj("term" to obj("countryIso" to string(language.homeCountry))))
    return obj(
        "query" to obj("bool" to obj("filter" to isFeatured, "should" to obj("constant_score" to ownCountry))),
        "sort" to array(
            listOf(
                obj("_score" to string("desc")),
                obj("countryIso" to string("asc")),
                obj("population" to string("desc")),
            ),
        ),
        "size" to number(MAX_FEATURED),
        excludedFromSource,
    )
}

/** Matches prefixes of names and multiplies the score by ln(2 + population). */
internal fun nameQuery(query: String, language: Language, countryIso: String?): JsonNode {
    fun matching(field: String, boost: Int) = obj(
        "multi_match" to obj(
            "query" to string(query),
            "type" to string("bool_prefix"),
            "fields" to array(listOf(field, "$field._2gram", "$field._3gram").map { string(it) }),
            "boost" to number(boost),
        ),
    )

    val names = array(
        listOf(
            matching("name.${language.code}.autocomplete", boost = 8),
            matching("name.${language.code}.autocomplete_ascii", boost = 4),
            matching("name.all.autocomplete", boost = 2),
            matching("name.all.autocomplete_ascii", boost = 1),
        ),
    )
    val inCountry = countryIso?.let { obj("term" to obj("countryIso" to string(it))) } ?: anyCity
    val byPopulation = obj(
        "field" to string("population"),
        "modifier" to string("ln2p"),
        "missing" to number(POPULATION_IF_MISSING),
    )
    return obj(
        "query" to obj(
            "function_score" to obj(
                "query" to obj(
                    "bool" to obj("should" to names, "minimum_should_match" to number(1), "filter" to inCountry),
                ),
                "field_value_factor" to byPopulation,
            ),
        ),
        "size" to number(MAX_FOUND),
        excludedFromSource,
    )
}

/** One query for both rules: a polygon that holds the point scores, and distance decides among equal scores. */
internal fun closestQuery(coordinates: Coordinates, onlyFeatured: Boolean): JsonNode = obj(
    "query" to obj(
        "bool" to obj(
            "filter" to cities(onlyFeatured),
            "should" to obj("constant_score" to obj("filter" to holds(coordinates))),
        ),
    ),
    "sort" to array(listOf(obj("_score" to string("desc")), distanceFrom(coordinates))),
    "size" to number(1),
    excludedFromSource,
)

private fun cities(onlyFeatured: Boolean) = if (onlyFeatured) isFeatured else anyCity

private fun holds(coordinates: Coordinates) = obj(
    "geo_shape" to obj(
        "geometry" to obj(
            "shape" to obj(
                "type" to string("point"),
                "coordinates" to array(listOf(coordinates.lon, coordinates.lat).map(::degrees)),
            ),
            "relation" to string("intersects"),
        ),
    ),
)

private fun distanceFrom(coordinates: Coordinates) = obj(
    "_geo_distance" to obj(
        "centroid" to obj("lat" to degrees(coordinates.lat), "lon" to degrees(coordinates.lon)),
        "order" to string("asc"),
    ),
)

private fun degrees(value: Double) = number(value.toBigDecimal())
