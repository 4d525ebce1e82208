package bakeoff.locations

import com.fasterxml.jackson.annotation.JsonProperty
import org.apache.http.HttpHost
import org.elasticsearch.client.Request
import org.elasticsearch.client.RestClient
import tools.jackson.module.kotlin.jacksonObjectMapper
import tools.jackson.module.kotlin.readValue
import java.io.IOException
import java.util.concurrent.ConcurrentHashMap

/**
 * More than the 200 threads of Tomcat, each of which holds at most one connection. Virtual threads may be more; those
 * beyond wait in the client's queue. Connections are opened only when needed.
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
        perform<Any>(Request("GET", "/"))
    }

    override fun city(id: Long): City? =
        perform<Found<CityDocument>>(document("/city/_doc/$id", excludes = "geometry,population")).source?.toCity()

    // Not computeIfAbsent: it would hold a lock during the request. Loading a region twice does no harm.
    override fun region(id: Long): Region? = regions[id]
        ?: perform<Found<RegionDocument>>(document("/region/_doc/$id", excludes = "geometry")).source?.toRegion()
            ?.also { regions[id] = it }

    override fun featuredCities(language: Language): List<City> = search(featuredQuery(language))

    override fun searchCities(query: String, language: Language, countryIso: String?): List<City> =
        search(nameQuery(query, language, countryIso))

    override fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean): City? =
        search(closestQuery(coordinates, onlyFeatured)).firstOrNull()

    private fun document(path: String, excludes: String) = Request("GET", path).apply {
        addParameter("_source_excludes", excludes)
        addParameter("ignore", "404")
    }

    private fun search(query: Query): List<City> {
        val request = Request("POST", "/city/_search").apply { setJsonEntity(json.writeValueAsString(query)) }
        return perform<SearchResult>(request).hits.hits.map { it.source.toCity() }
    }

    private inline fun <reified T : Any> perform(request: Request): T = try {
        client.performRequest(request).entity.content.use { json.readValue<T>(it) }
    } catch (e: IOException) {
        throw StoreUnavailable("elasticsearch did not answer ${request.method} ${request.endpoint}", e)
    }
}

private val json = jacksonObjectMapper()

private class Found<T : Any>(@JsonProperty("_source") val source: T?)

private class SearchResult(val hits: Hits) {
    class Hits(val hits: List<Hit>)

    class Hit(@JsonProperty("_source") val source: CityDocument)
}

private class CityDocument(
    val id: Long,
    val countryIso: String,
    val regionId: Long,
    val centroid: Centroid,
    val isFeatured: Boolean,
    @JsonProperty("name.cs") val cs: String,
    @JsonProperty("name.de") val de: String,
    @JsonProperty("name.en") val en: String,
    @JsonProperty("name.pl") val pl: String,
    @JsonProperty("name.sk") val sk: String,
) {
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

private class RegionDocument(
    val id: Long,
    @JsonProperty("name.cs") val cs: String,
    @JsonProperty("name.de") val de: String,
    @JsonProperty("name.en") val en: String,
    @JsonProperty("name.pl") val pl: String,
    @JsonProperty("name.sk") val sk: String,
) {
    fun toRegion() = Region(id, names(cs, de, en, pl, sk))
}

private fun names(cs: String, de: String, en: String, pl: String, sk: String): Names =
    mapOf(Language.CS to cs, Language.DE to de, Language.EN to en, Language.PL to pl, Language.SK to sk)

private const val MAX_FEATURED = 1_000
private const val MAX_FOUND = 10
private const val POPULATION_IF_MISSING = 500

/** A query as JSON; maps keep the order they are written in. */
internal typealias Query = Map<String, Any>

private val smallSource = "_source" to mapOf("excludes" to listOf("geometry", "population"))
private val anyCity = mapOf("match_all" to emptyMap<String, Any>())

private fun term(field: String, value: Any) = mapOf("term" to mapOf(field to value))

/** Cities of the language's own country score 1 and all others 0. */
internal fun featuredQuery(language: Language): Query = mapOf(
    "query" to mapOf(
        "bool" to mapOf(
            "filter" to term("isFeatured", true),
            "should" to mapOf("constant_score" to mapOf("filter" to term("countryIso", language.homeCountry))),
        ),
    ),
    "sort" to listOf(mapOf("_score" to "desc"), mapOf("countryIso" to "asc"), mapOf("population" to "desc")),
    "size" to MAX_FEATURED,
    smallSource,
)

/** Matches prefixes of names and multiplies the score by ln(2 + population). */
internal fun nameQuery(query: String, language: Language, countryIso: String?): Query = mapOf(
    "query" to mapOf(
        "function_score" to mapOf(
            "query" to mapOf(
                "bool" to mapOf(
                    "should" to listOf(
                        prefix(query, "name.${language.code}.autocomplete", boost = 8),
                        prefix(query, "name.${language.code}.autocomplete_ascii", boost = 4),
                        prefix(query, "name.all.autocomplete", boost = 2),
                        prefix(query, "name.all.autocomplete_ascii", boost = 1),
                    ),
                    "minimum_should_match" to 1,
                    "filter" to (countryIso?.let { term("countryIso", it) } ?: anyCity),
                ),
            ),
            "field_value_factor" to mapOf(
                "field" to "population",
                "modifier" to "ln2p",
                "missing" to POPULATION_IF_MISSING,
            ),
        ),
    ),
    "size" to MAX_FOUND,
    smallSource,
)

private fun prefix(query: String, field: String, boost: Int) = mapOf(
    "multi_match" to mapOf(
        "query" to query,
        "type" to "bool_prefix",
        "fields" to listOf(field, "$field._2gram", "$field._3gram"),
        "boost" to boost,
    ),
)

/** One query for both rules: a polygon that holds the point scores, and distance decides among equal scores. */
internal fun closestQuery(coordinates: Coordinates, onlyFeatured: Boolean): Query = mapOf(
    "query" to mapOf(
        "bool" to mapOf(
            "filter" to if (onlyFeatured) term("isFeatured", true) else anyCity,
            "should" to mapOf("constant_score" to mapOf("filter" to holds(coordinates))),
        ),
    ),
    "sort" to listOf(
        mapOf("_score" to "desc"),
        mapOf(
            "_geo_distance" to mapOf(
                "centroid" to mapOf("lat" to coordinates.lat, "lon" to coordinates.lon),
                "order" to "asc",
            ),
        ),
    ),
    "size" to 1,
    smallSource,
)

private fun holds(coordinates: Coordinates) = mapOf(
    "geo_shape" to mapOf(
        "geometry" to mapOf(
            "shape" to mapOf("type" to "point", "coordinates" to listOf(coordinates.lon, coordinates.lat)),
            "relation" to "intersects",
        ),
    ),
)
