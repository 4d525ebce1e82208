package bakeoff.locations

/** The languages the service speaks, each with the country listed first and the city assumed by default. */
enum class Language(val homeCountry: String, val defaultCityId: Long) {
    CS("CZ", 101748113),
    DE("DE", 101909779),
    EN("CZ", 101748113),
    PL("PL", 101752777),
    SK("SK", 1108800123),
    ;

    val code = name.lowercase()

    companion object {
        private val byCode = entries.associateBy { it.code }

        fun ofOrNull(code: String): Language? = byCode[code]
    }
}

/** A point on Earth, in degrees. */
data class Coordinates(val lat: Double, val lon: Double) {
    init {
        require(lat in LATITUDES) { "latitude $lat is out of range" }
        require(lon in LONGITUDES) { "longitude $lon is out of range" }
    }

    companion object {
        val LATITUDES = -90.0..90.0
        val LONGITUDES = -180.0..180.0
    }
}

typealias Names = Map<Language, String>

data class City(
    val id: Long,
    val countryIso: String,
    val regionId: Long,
    val centroid: Coordinates,
    val isFeatured: Boolean,
    val names: Names,
)

data class Region(val id: Long, val names: Names)

/** A city together with the region it lies in. */
data class Place(val city: City, val region: Region)

/** Where cities and regions are kept. Every function may throw [StoreUnavailable]. */
interface Store {
    suspend fun city(id: Long): City?

    suspend fun region(id: Long): Region?

    suspend fun featuredCities(language: Language): List<City>

    suspend fun searchCities(query: String, language: Language, countryIso: String?): List<City>

    suspend fun closestCity(coordinates: Coordinates, onlyFeatured: Boolean): City?
}

class StoreUnavailable(message: String, cause: Throwable) : Exception(message, cause)

/** What the service can tell about places; null stands for "there is no such place". */
class Locations(private val store: Store) {
    suspend fun get(id: Long): Place? = store.city(id)?.inRegion()

    suspend fun featured(language: Language): List<Place> = store.featuredCities(language).map { it.inRegion() }

    suspend fun search(query: String, language: Language, countryIso: String?): List<Place> =
        store.searchCities(query, language, countryIso).map { it.inRegion() }

    suspend fun closest(coordinates: Coordinates): Place? =
        store.closestCity(coordinates, onlyFeatured = false)?.inRegion()

    /** For a visitor who gave no coordinates: the featured city near where they seem to be. */
    suspend fun closestForVisitor(visitor: Coordinates?, language: Language): Place? {
        val city = visitor?.let { store.closestCity(it, onlyFeatured = true) } ?: store.city(language.defaultCityId)
        return city?.inRegion()
    }

    /** A featured city is its own; any other belongs to the closest featured one. */
    suspend fun associatedFeatured(id: Long): Place? {
        val city = store.city(id) ?: return null
        val featured = if (city.isFeatured) city else store.closestCity(city.centroid, onlyFeatured = true)
        return featured?.inRegion()
    }

    private suspend fun City.inRegion() =
        Place(this, checkNotNull(store.region(regionId)) { "city $id has the unknown region $regionId" })
}
