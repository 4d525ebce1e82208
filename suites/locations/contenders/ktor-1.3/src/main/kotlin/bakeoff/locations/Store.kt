package bakeoff.locations

import com.fasterxml.jackson.databind.JsonNode
import com.fasterxml.jackson.databind.ObjectMapper
import kotlinx.coroutines.suspendCancellableCoroutine
import org.apache.http.HttpHost
import org.elasticsearch.client.Request
import org.elasticsearch.client.Response
import org.elasticsearch.client.ResponseListener
import org.elasticsearch.client.RestClient
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException

/** Far more requests than this are under way at high load; those beyond it wait in the client's queue. */
private const val MAX_CONNECTIONS = 256
private const val CONNECT_TIMEOUT_MS = 2_000
private const val SOCKET_TIMEOUT_MS = 10_000

fun elasticClient(config: Config): RestClient = RestClient.builder(HttpHost(config.elasticHost, config.elasticPort))
    .setRequestConfigCallback { it.setConnectTimeout(CONNECT_TIMEOUT_MS).setSocketTimeout(SOCKET_TIMEOUT_MS) }
    .setHttpClientConfigCallback { it.setMaxConnTotal(MAX_CONNECTIONS).setMaxConnPerRoute(MAX_CONNECTIONS) }
    .build()

private val mapper = ObjectMapper()

/** Reads cities anew for each request and remembers regions, which are few and never change. */
class ElasticStore(private val client: RestClient) : Store {
    private val regions = ConcurrentHashMap<Long, Region>()

    /** Fails unless Elasticsearch answers. */
    suspend fun ping() {
        perform(Request("GET", "/"))
    }

    override suspend fun city(id: Long): City? = source("/city/_doc/$id", "geometry,population")?.toCity()

    override suspend fun region(id: Long): Region? =
        regions[id] ?: source("/region/_doc/$id", "geometry")?.toRegion()?.also { regions[id] = it }

    override suspend fun featuredCities(language: Language): List<City> = search(featuredQuery(language))

    override suspend fun searchCities(query: String, language: Language, countryIso: String?): List<City> =
        search(nameQuery(query, language, countryIso))

    override suspend fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean): City? =
        search(closestQuery(coordinates, onlyFeatured)).firstOrNull()

    private suspend fun source(path: String, excludes: String): JsonNode? {
        val request = Request("GET", path).apply {
            addParameter("_source_excludes", excludes)
            addParameter("ignore", "404")
        }
        return perform(request)["_source"]
    }

    private suspend fun search(query: Query): List<City> {
        val request = Request("POST", "/city/_search").apply { setJsonEntity(mapper.writeValueAsString(query)) }
        return perform(request).path("hits").path("hits").map { it["_source"].toCity() }
    }

    private suspend fun perform(request: Request): JsonNode = try {
        client.perform(request).entity.content.use { mapper.readTree(it) }
    } catch (e: IOException) {
        throw StoreUnavailable("elasticsearch did not answer ${request.method} ${request.endpoint}", e)
    }
}

/** The client's callback as a suspending function; cancelling the coroutine aborts the request. */
private suspend fun RestClient.perform(request: Request): Response = suspendCancellableCoroutine { continuation ->
    val listener = object : ResponseListener {
        override fun onSuccess(response: Response) = continuation.resume(response)

        override fun onFailure(exception: Exception) = continuation.resumeWithException(exception)
    }
    val call = performRequestAsync(request, listener)
    continuation.invokeOnCancellation { call.cancel() }
}

private fun JsonNode.toCity() = City(
    id = this["id"].asLong(),
    countryIso = this["countryIso"].asText(),
    regionId = this["regionId"].asLong(),
    centroid = this["centroid"].run { Coordinates(this["lat"].asDouble(), this["lon"].asDouble()) },
    isFeatured = this["isFeatured"].asBoolean(),
    names = names()
)

private fun JsonNode.toRegion() = Region(id = this["id"].asLong(), names = names())

private fun JsonNode.names(): Names = Language.values().associate { it to this["name.${it.code}"].asText() }

private const val MAX_FEATURED = 1_000
private const val MAX_FOUND = 10
private const val POPULATION_IF_MISSING = 500

private typealias Query = Map<String, Any>

private val smallSource = "_source" to mapOf("excludes" to listOf("geometry", "population"))
private val isFeatured = mapOf("term" to mapOf("isFeatured" to true))
private val anyCity = mapOf("match_all" to emptyMap<String, Any>())

/** Cities of the language's own country score 1 and all others 0. */
private fun featuredQuery(language: Language): Query {
    val ownCountry = mapOf("filter" to mapOf("term" to mapOf("countryIso" to language.homeCountry)))
    return mapOf(
        "query" to mapOf("bool" to mapOf("filter" to isFeatured, "should" to mapOf("constant_score" to ownCountry))),
        "sort" to listOf(mapOf("_score" to "desc"), mapOf("countryIso" to "asc"), mapOf("population" to "desc")),
        "size" to MAX_FEATURED,
        smallSource
    )
}

/** Matches prefixes of names and multiplies the score by ln(2 + population). */
private fun nameQuery(query: String, language: Language, countryIso: String?): Query {
    fun matching(field: String, boost: Int) = mapOf(
        "multi_match" to mapOf(
            "query" to query,
            "type" to "bool_prefix",
            "fields" to listOf(field, "$field._2gram", "$field._3gram"),
            "boost" to boost
        )
    )

    val names = listOf(
        matching("name.${language.code}.autocomplete", boost = 8),
        matching("name.${language.code}.autocomplete_ascii", boost = 4),
        matching("name.all.autocomplete", boost = 2),
        matching("name.all.autocomplete_ascii", boost = 1)
    )
    val inCountry = countryIso?.let { mapOf("term" to mapOf("countryIso" to it)) } ?: anyCity
    return mapOf(
        "query" to mapOf(
            "function_score" to mapOf(
                "query" to mapOf(
                    "bool" to mapOf("should" to names, "minimum_should_match" to 1, "filter" to inCountry)
                ),
                "field_value_factor" to mapOf(
                    "field" to "population",
                    "modifier" to "ln2p",
                    "missing" to POPULATION_IF_MISSING
                )
            )
        ),
        "size" to MAX_FOUND,
        smallSource
    )
}

/** One query for both rules: a polygon that holds the point scores, and distance decides among equal scores. */
private fun closestQuery(coordinates: Coordinates, onlyFeatured: Boolean): Query {
    val (lat, lon) = coordinates
    val holdsPoint = mapOf(
        "geo_shape" to mapOf(
            "geometry" to mapOf(
                "shape" to mapOf("type" to "point", "coordinates" to listOf(lon, lat)),
                "relation" to "intersects"
            )
        )
    )
    val distance = mapOf("centroid" to mapOf("lat" to lat, "lon" to lon), "order" to "asc")
    return mapOf(
        "query" to mapOf(
            "bool" to mapOf(
                "filter" to if (onlyFeatured) isFeatured else anyCity,
                "should" to mapOf("constant_score" to mapOf("filter" to holdsPoint))
            )
        ),
        "sort" to listOf(mapOf("_score" to "desc"), mapOf("_geo_distance" to distance)),
        "size" to 1,
        smallSource
    )
}
