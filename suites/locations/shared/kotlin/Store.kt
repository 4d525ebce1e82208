package bakeoff.locations

import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonObjectBuilder
import kotlinx.serialization.json.add
import kotlinx.serialization.json.addJsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray
import kotlinx.serialization.json.putJsonObject
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

    override suspend fun city(id: Long): City? =
        document("/city/_doc/$id", excludes = "geometry,population", Found.serializer(CityDocument.serializer()))
            ?.toCity()

    override suspend fun region(id: Long): Region? = regions[id]
        ?: document("/region/_doc/$id", excludes = "geometry", Found.serializer(RegionDocument.serializer()))
            ?.toRegion()
            ?.also { regions[id] = it }

    override suspend fun featuredCities(language: Language): List<City> = search(featuredQuery(language))

    override suspend fun searchCities(query: String, language: Language, countryIso: String?): List<City> =
        search(nameQuery(query, language, countryIso))

    override suspend fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean): City? =
        search(closestQuery(coordinates, onlyFeatured)).firstOrNull()

    private suspend fun <T> document(path: String, excludes: String, serializer: KSerializer<Found<T>>): T? {
        val request = Request("GET", path).apply {
            addParameter("_source_excludes", excludes)
            addParameter("ignore", "404")
        }
        return lenientJson.decodeFromString(serializer, perform(request)).source
    }

    private suspend fun search(query: JsonObject): List<City> {
        val request = Request("POST", "/city/_search").apply { setJsonEntity(query.toString()) }
        return lenientJson.decodeFromString<SearchResult>(perform(request)).hits.hits.map { it.source.toCity() }
    }

    private suspend fun perform(request: Request): String = try {
        EntityUtils.toString(client.perform(request).entity)
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

private val lenientJson = Json { ignoreUnknownKeys = true }

@Serializable
private class Found<T>(@SerialName("_source") val source: T? = null)

@Serializable
private class SearchResult(val hits: Hits) {
    @Serializable
    class Hits(val hits: List<Hit>)

    @Serializable
    class Hit(@SerialName("_source") val source: CityDocument)
}

@Serializable
private class CityDocument(
    val id: Long,
    val countryIso: String,
    val regionId: Long,
    val centroid: Centroid,
    val isFeatured: Boolean,
    @SerialName("name.cs") val cs: String,
    @SerialName("name.de") val de: String,
    @SerialName("name.en") val en: String,
    @SerialName("name.pl") val pl: String,
    @SerialName("name.sk") val sk: String,
) {
    @Serializable
    class Centroid(val lat: Double, val lon: Double)

    fun toCity() = City(
        id = id,
        countryIso = countryIso,
        regionId = regionId,
        centroid = Coordinates(centroid.lat, centroid.lon),
        isFeatured = isFeatured,
        names = names(cs, de, en, pl, sk),
    )
}

@Serializable
private class RegionDocument(
    val id: Long,
    @SerialName("name.cs") val cs: String,
    @SerialName("name.de") val de: String,
    @SerialName("name.en") val en: String,
    @SerialName("name.pl") val pl: String,
    @SerialName("name.sk") val sk: String,
) {
    fun toRegion() = Region(id, names(cs, de, en, pl, sk))
}

private fun names(cs: String, de: String, en: String, pl: String, sk: String): Names =
    mapOf(Language.CS to cs, Language.DE to de, Language.EN to en, Language.PL to pl, Language.SK to sk)

private const val MAX_FEATURED = 1_000
private const val MAX_FOUND = 10
private const val POPULATION_IF_MISSING = 500

/** Cities of the language's own country score 1 and all others 0. */
internal fun featuredQuery(language: Language) = buildJsonObject {
    putJsonObject("query") {
        putJsonObject("bool") {
            putJsonObject("filter") { term("isFeatured", true) }
            putJsonObject("should") {
                putJsonObject("constant_score") {
                    putJsonObject("filter") { term("countryIso", language.homeCountry) }
                }
            }
        }
    }
    putJsonArray("sort") {
        addJsonObject { put("_score", "desc") }
        addJsonObject { put("countryIso", "asc") }
        addJsonObject { put("population", "desc") }
    }
    put("size", MAX_FEATURED)
    smallSource()
}

/** Matches prefixes of names and multiplies the score by ln(2 + population). */
internal fun nameQuery(query: String, language: Language, countryIso: String?) = buildJsonObject {
    putJsonObject("query") {
        putJsonObject("function_score") {
            putJsonObject("query") {
                putJsonObject("bool") {
                    putJsonArray("should") {
                        addJsonObject { prefix(query, "name.${language.code}.autocomplete", boost = 8) }
                        addJsonObject { prefix(query, "name.${language.code}.autocomplete_ascii", boost = 4) }
                        addJsonObject { prefix(query, "name.all.autocomplete", boost = 2) }
                        addJsonObject { prefix(query, "name.all.autocomplete_ascii", boost = 1) }
                    }
                    put("minimum_should_match", 1)
                    putJsonObject("filter") { if (countryIso == null) anyCity() else term("countryIso", countryIso) }
                }
            }
            putJsonObject("field_value_factor") {
                put("field", "population")
                put("modifier", "ln2p")
                put("missing", POPULATION_IF_MISSING)
            }
        }
    }
    put("size", MAX_FOUND)
    smallSource()
}

/** One query for both rules: a polygon that holds the point scores, and distance decides among equal scores. */
internal fun closestQuery(coordinates: Coordinates, onlyFeatured: Boolean) = buildJsonObject {
    putJsonObject("query") {
        putJsonObject("bool") {
            putJsonObject("filter") { if (onlyFeatured) term("isFeatured", true) else anyCity() }
            putJsonObject("should") {
                putJsonObject("constant_score") { putJsonObject("filter") { holds(coordinates) } }
            }
        }
    }
    putJsonArray("sort") {
        addJsonObject { put("_score", "desc") }
        addJsonObject {
            putJsonObject("_geo_distance") {
                putJsonObject("centroid") {
                    put("lat", coordinates.lat)
                    put("lon", coordinates.lon)
                }
                put("order", "asc")
            }
        }
    }
    put("size", 1)
    smallSource()
}

private fun JsonObjectBuilder.anyCity() = putJsonObject("match_all") {}

private fun JsonObjectBuilder.term(field: String, value: String) = putJsonObject("term") { put(field, value) }

private fun JsonObjectBuilder.term(field: String, value: Boolean) = putJsonObject("term") { put(field, value) }

private fun JsonObjectBuilder.prefix(query: String, field: String, boost: Int) = putJsonObject("multi_match") {
    put("query", query)
    put("type", "bool_prefix")
    putJsonArray("fields") {
        add(field)
        add("$field._2gram")
        add("$field._3gram")
    }
    put("boost", boost)
}

private fun JsonObjectBuilder.holds(coordinates: Coordinates) = putJsonObject("geo_shape") {
    putJsonObject("geometry") {
        putJsonObject("shape") {
            put("type", "point")
            putJsonArray("coordinates") {
                add(coordinates.lon)
                add(coordinates.lat)
            }
        }
        put("relation", "intersects")
    }
}

private fun JsonObjectBuilder.smallSource() = putJsonObject("_source") {
    putJsonArray("excludes") {
        add("geometry")
        add("population")
    }
}
