//! Cities and regions in Elasticsearch: queries, documents, errors. Not for rules about them.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use elasticsearch::{
    Elasticsearch, GetParts, SearchParts,
    http::{
        Url,
        response::Response,
        transport::{BuildError, SingleNodeConnectionPool, TransportBuilder},
    },
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    domain::{Among, City, Coordinates, Language, Names, Region},
    timeout,
};

/// A request must not wait for ever.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Nor must the start: an orchestrator must learn soon that it failed.
const START_TIMEOUT: Duration = Duration::from_secs(5);
const FEATURED_MAX: u64 = 1_000;
const FOUND_MAX: u64 = 10;
const POPULATION_IF_MISSING: u64 = 500;

/// Reads cities anew for each request and remembers regions, which are few and never change.
pub struct Store {
    client: Elasticsearch,
    regions: RwLock<HashMap<u64, Arc<Region>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("elasticsearch does not answer")]
    Unavailable(#[source] elasticsearch::Error),
    #[error("elasticsearch does not answer in time")]
    Late,
    #[error("elasticsearch answered with status {status}: {body}")]
    Refused { status: u16, body: String },
    #[error("elasticsearch answered with something else than a document or a search result")]
    Malformed(#[source] elasticsearch::Error),
    #[error("the document of a city or region is wrong: {0}")]
    Document(String),
}

impl Store {
    /// Prepares a client; connects when it is first used.
    pub fn new(elastic: Url) -> Result<Self, BuildError> {
        let transport = TransportBuilder::new(SingleNodeConnectionPool::new(elastic))
            .disable_proxy()
            .build()?;
        Ok(Self {
            client: Elasticsearch::new(transport),
            regions: RwLock::default(),
        })
    }

    /// Fails unless Elasticsearch answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        within(START_TIMEOUT, async {
            let response = self.client.info().send().await;
            let response = response.map_err(StoreError::Unavailable)?;
            if response.status_code().is_success() {
                Ok(())
            } else {
                Err(refused(response).await)
            }
        })
        .await
    }

    pub async fn city(&self, id: u64) -> Result<Option<City>, StoreError> {
        self.document::<CityDocument>("city", id, &["geometry", "population"])
            .await?
            .map(City::try_from)
            .transpose()
    }

    /// The region, which must exist because a city names it.
    pub async fn region(&self, id: u64) -> Result<Arc<Region>, StoreError> {
        if let Some(region) = self.cached_region(id) {
            return Ok(region);
        }
        let document = self
            .document::<RegionDocument>("region", id, &["geometry"])
            .await?
            .ok_or_else(|| StoreError::Document(format!("there is no region {id}")))?;
        let region = Arc::new(Region {
            names: document.names(),
        });
        self.regions
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, Arc::clone(&region));
        Ok(region)
    }

    /// Cities of the language's own country first, then by country; the largest first.
    pub async fn featured_cities(&self, language: Language) -> Result<Vec<City>, StoreError> {
        self.search(featured_query(language)).await
    }

    pub async fn search_cities(
        &self,
        query: &str,
        language: Language,
        country_iso: Option<&str>,
    ) -> Result<Vec<City>, StoreError> {
        self.search(name_query(query, language, country_iso)).await
    }

    /// The city whose polygon holds the point, else the one with the nearest centroid.
    pub async fn closest_city(
        &self,
        coordinates: Coordinates,
        among: Among,
    ) -> Result<Option<City>, StoreError> {
        let cities = self.search(closest_query(coordinates, among)).await?;
        Ok(cities.into_iter().next())
    }

    fn cached_region(&self, id: u64) -> Option<Arc<Region>> {
        let regions = self.regions.read().unwrap_or_else(PoisonError::into_inner);
        regions.get(&id).cloned()
    }

    async fn document<T: DeserializeOwned>(
        &self,
        index: &str,
        id: u64,
        excludes: &[&str],
    ) -> Result<Option<T>, StoreError> {
        within(TIMEOUT, self.read_document(index, id, excludes)).await
    }

    async fn read_document<T: DeserializeOwned>(
        &self,
        index: &str,
        id: u64,
        excludes: &[&str],
    ) -> Result<Option<T>, StoreError> {
        let response = self
            .client
            .get(GetParts::IndexId(index, &id.to_string()))
            ._source_excludes(excludes)
            .send()
            .await
            .map_err(StoreError::Unavailable)?;
        // A missing document is also a 404. A missing index is one too, but its answer is no
        // `Found` and so an error.
        if !response.status_code().is_success() && response.status_code().as_u16() != 404 {
            return Err(refused(response).await);
        }
        let found: Found<T> = response.json().await.map_err(StoreError::Malformed)?;
        Ok(found.source.filter(|_| found.found))
    }

    async fn search(&self, body: Value) -> Result<Vec<City>, StoreError> {
        within(TIMEOUT, self.read_cities(body)).await
    }

    async fn read_cities(&self, body: Value) -> Result<Vec<City>, StoreError> {
        let response = self
            .client
            .search(SearchParts::Index(&["city"]))
            .body(body)
            .send()
            .await
            .map_err(StoreError::Unavailable)?;
        if !response.status_code().is_success() {
            return Err(refused(response).await);
        }
        let result: SearchResult = response.json().await.map_err(StoreError::Malformed)?;
        result
            .hits
            .hits
            .into_iter()
            .map(|hit| City::try_from(hit.source))
            .collect()
    }
}

/// This client has no limits of its own.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(limit, answer)
        .await
        .unwrap_or(Err(StoreError::Late))
}

async fn refused(response: Response) -> StoreError {
    StoreError::Refused {
        status: response.status_code().as_u16(),
        body: response.text().await.unwrap_or_default(),
    }
}

/// Cities of the language's own country score 1 and all others 0.
fn featured_query(language: Language) -> Value {
    json!({
        "query": { "bool": {
            "filter": featured(),
            "should": { "constant_score": {
                "filter": { "term": { "countryIso": language.home_country() } },
            } },
        } },
        "sort": [{ "_score": "desc" }, { "countryIso": "asc" }, { "population": "desc" }],
        "size": FEATURED_MAX,
        "_source": small_source(),
    })
}

/// Matches prefixes of names and multiplies the score by ln(2 + population).
fn name_query(query: &str, language: Language, country_iso: Option<&str>) -> Value {
    let matching = |field: &str, boost: u8| {
        json!({ "multi_match": {
            "query": query,
            "type": "bool_prefix",
            "fields": [field, format!("{field}._2gram"), format!("{field}._3gram")],
            "boost": boost,
        } })
    };
    let code = language.code();
    json!({
        "query": { "function_score": {
            "query": { "bool": {
                "should": [
                    matching(&format!("name.{code}.autocomplete"), 8),
                    matching(&format!("name.{code}.autocomplete_ascii"), 4),
                    matching("name.all.autocomplete", 2),
                    matching("name.all.autocomplete_ascii", 1),
                ],
                "minimum_should_match": 1,
                "filter": country_iso.map_or_else(any_city, in_country),
            } },
            "field_value_factor": {
                "field": "population",
                "modifier": "ln2p",
                "missing": POPULATION_IF_MISSING,
            },
        } },
        "size": FOUND_MAX,
        "_source": small_source(),
    })
}

/// One query for both rules: a polygon that holds the point scores, and distance decides among
/// equal scores.
fn closest_query(coordinates: Coordinates, among: Among) -> Value {
    let (lat, lon) = (coordinates.lat(), coordinates.lon());
    let holds_point = json!({ "geo_shape": { "geometry": {
        "shape": { "type": "point", "coordinates": [lon, lat] },
        "relation": "intersects",
    } } });
    let by_distance = json!({ "_geo_distance": {
        "centroid": { "lat": lat, "lon": lon },
        "order": "asc",
    } });
    json!({
        "query": { "bool": {
            "filter": match among {
                Among::AllCities => any_city(),
                Among::FeaturedCities => featured(),
            },
            "should": { "constant_score": { "filter": holds_point } },
        } },
        "sort": [{ "_score": "desc" }, by_distance],
        "size": 1,
        "_source": small_source(),
    })
}

fn any_city() -> Value {
    json!({ "match_all": {} })
}

fn featured() -> Value {
    json!({ "term": { "isFeatured": true } })
}

fn in_country(country_iso: &str) -> Value {
    json!({ "term": { "countryIso": country_iso } })
}

fn small_source() -> Value {
    json!({ "excludes": ["geometry", "population"] })
}

#[derive(Deserialize)]
struct Found<T> {
    found: bool,
    #[serde(rename = "_source")]
    source: Option<T>,
}

#[derive(Deserialize)]
struct SearchResult {
    hits: Hits,
}

#[derive(Deserialize)]
struct Hits {
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(rename = "_source")]
    source: CityDocument,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CityDocument {
    id: u64,
    country_iso: String,
    region_id: u64,
    centroid: Centroid,
    is_featured: bool,
    #[serde(rename = "name.cs")]
    cs: String,
    #[serde(rename = "name.de")]
    de: String,
    #[serde(rename = "name.en")]
    en: String,
    #[serde(rename = "name.pl")]
    pl: String,
    #[serde(rename = "name.sk")]
    sk: String,
}

#[derive(Deserialize)]
struct Centroid {
    lat: f64,
    lon: f64,
}

impl TryFrom<CityDocument> for City {
    type Error = StoreError;

    fn try_from(document: CityDocument) -> Result<Self, StoreError> {
        let CityDocument { id, centroid, .. } = document;
        let centroid = Coordinates::new(centroid.lat, centroid.lon)
            .map_err(|problem| StoreError::Document(format!("city {id}: {problem}")))?;
        Ok(Self {
            id,
            country_iso: document.country_iso,
            region_id: document.region_id,
            centroid,
            is_featured: document.is_featured,
            names: Names {
                cs: document.cs,
                de: document.de,
                en: document.en,
                pl: document.pl,
                sk: document.sk,
            },
        })
    }
}

#[derive(Deserialize)]
struct RegionDocument {
    #[serde(rename = "name.cs")]
    cs: String,
    #[serde(rename = "name.de")]
    de: String,
    #[serde(rename = "name.en")]
    en: String,
    #[serde(rename = "name.pl")]
    pl: String,
    #[serde(rename = "name.sk")]
    sk: String,
}

impl RegionDocument {
    fn names(self) -> Names {
        Names {
            cs: self.cs,
            de: self.de,
            en: self.en,
            pl: self.pl,
            sk: self.sk,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_sent_as_given() {
        let coordinates = Coordinates::new(50.107, 14.574).unwrap();
        let query = closest_query(coordinates, Among::FeaturedCities).to_string();
        assert!(
            query.contains(r#""coordinates":[14.574,50.107]"#),
            "{query}"
        );
        assert!(query.contains(r#""centroid":{"lat":50.107,"lon":14.574}"#));
        assert!(query.contains(r#""filter":{"term":{"isFeatured":true}}"#));
    }

    #[test]
    fn a_country_limits_the_search() {
        let query = name_query("Brno", Language::De, Some("AT")).to_string();
        assert!(
            query.contains(r#""filter":{"term":{"countryIso":"AT"}}"#),
            "{query}"
        );
        assert!(
            query.contains("name.de.autocomplete_ascii._3gram"),
            "{query}"
        );
    }

    #[test]
    fn a_document_has_its_names_beside_the_other_fields() {
        let document = r#"{"id":1,"countryIso":"CZ","regionId":2,"isFeatured":true,
            "centroid":{"lat":50.0,"lon":14.0},"timezone":"Europe/Prague",
            "name.cs":"c","name.de":"d","name.en":"e","name.pl":"p","name.sk":"s"}"#;
        let document: CityDocument = serde_json::from_str(document).unwrap();
        let city = City::try_from(document).unwrap();
        assert_eq!(city.names.in_language(Language::Pl), "p");
    }
}
