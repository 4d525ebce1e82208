package bakeoff.locations

import io.vertx.core.json.JsonObject
import io.vertx.kotlin.core.json.jsonArrayOf
import io.vertx.kotlin.core.json.jsonObjectOf
import kotlinx.coroutines.suspendCancellableCoroutine
import org.apache.http.HttpHost
import org.apache.http.util.EntityUtils
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

    private suspend fun source(path: String, excludes: String): JsonObject? {
        val request = Request("GET", path).apply {
            addParameter("_source_excludes", excludes)
            addParameter("ignore", "404")
        }
        return perform(request).getJsonObject("_source")
    }

    private suspend fun search(query: JsonObject): List<City> {
        val request = Request("POST", "/city/_search").apply { setJsonEntity(query.encode()) }
        return perform(request).getJsonObject("hits").getJsonArray("hits")
            .map { (it as JsonObject).getJsonObject("_source").toCity() }
    }

    private suspend fun perform(request: Request): JsonObject = try {
        JsonObject(EntityUtils.toString(client.perform(request).entity))
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

private fun JsonObject.toCity() = City(
    id = getLong("id"),
    countryIso = getString("countryIso"),
    regionId = getLong("regionId"),
    centroid = getJsonObject("centroid").run { Coordinates(getDouble("lat"), getDouble("lon")) },
    isFeatured = getBoolean("isFeatured"),
    names = names()
)

private fun JsonObject.toRegion() = Region(id = getLong("id"), names = names())

private fun JsonObject.names(): Names = Language.values().associate { it to getString("name.${it.code}") }

private const val MAX_FEATURED = 1_000
private const val MAX_FOUND = 10
private const val POPULATION_IF_MISSING = 500

private val smallSource = "_source" to jsonObjectOf("excludes" to jsonArrayOf("geometry", "population"))
private val isFeatured = jsonObjectOf("term" to jsonObjectOf("isFeatured" to true))
private val anyCity = jsonObjectOf("match_all" to jsonObjectOf())

/** Cities of the language's own country score 1 and all others 0. */
private fun featuredQuery(language: Language): JsonObject {
    val ownCountry = jsonObjectOf("term" to jsonObjectOf("countryIso" to language.homeCountry))
    return jsonObjectOf(
        "query" to jsonObjectOf(
            "bool" to jsonObjectOf(
                "filter" to isFeatured,
                "should" to jsonObjectOf("constant_score" to jsonObjectOf("filter" to ownCountry))
            )
        ),
        "sort" to jsonArrayOf(
            jsonObjectOf("_score" to "desc"),
            jsonObjectOf("countryIso" to "asc"),
            jsonObjectOf("population" to "desc")
        ),
        "size" to MAX_FEATURED,
        smallSource
    )
}

/** Matches prefixes of names and multiplies the score by ln(2 + population). */
private fun nameQuery(query: String, language: Language, countryIso: String?): JsonObject {
    fun matching(field: String, boost: Int) = jsonObjectOf(
        "multi_match" to jsonObjectOf(
            "query" to query,
            "type" to "bool_prefix",
            "fields" to jsonArrayOf(field, "$field._2gram", "$field._3gram"),
            "boost" to boost
        )
    )

    val names = jsonArrayOf(
        matching("name.${language.code}.autocomplete", boost = 8),
        matching("name.${language.code}.autocomplete_ascii", boost = 4),
        matching("name.all.autocomplete", boost = 2),
        matching("name.all.autocomplete_ascii", boost = 1)
    )
    val inCountry = countryIso?.let { jsonObjectOf("term" to jsonObjectOf("countryIso" to it)) } ?: anyCity
    return jsonObjectOf(
        "query" to jsonObjectOf(
            "function_score" to jsonObjectOf(
                "query" to jsonObjectOf(
                    "bool" to jsonObjectOf("should" to names, "minimum_should_match" to 1, "filter" to inCountry)
                ),
                "field_value_factor" to jsonObjectOf(
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
private fun closestQuery(coordinates: Coordinates, onlyFeatured: Boolean): JsonObject {
    val (lat, lon) = coordinates
    val holdsPoint = jsonObjectOf(
        "geo_shape" to jsonObjectOf(
            "geometry" to jsonObjectOf(
                "shape" to jsonObjectOf("type" to "point", "coordinates" to jsonArrayOf(lon, lat)),
                "relation" to "intersects"
            )
        )
    )
    val distance = jsonObjectOf("centroid" to jsonObjectOf("lat" to lat, "lon" to lon), "order" to "asc")
    return jsonObjectOf(
        "query" to jsonObjectOf(
            "bool" to jsonObjectOf(
                "filter" to if (onlyFeatured) isFeatured else anyCity,
                "should" to jsonObjectOf("constant_score" to jsonObjectOf("filter" to holdsPoint))
            )
        ),
        "sort" to jsonArrayOf(jsonObjectOf("_score" to "desc"), jsonObjectOf("_geo_distance" to distance)),
        "size" to 1,
        smallSource
    )
}
