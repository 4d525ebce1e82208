//! Cities and regions in Elasticsearch: the client and its errors. Not for rules about them.

use std::{
    collections::HashMap,
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
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::{
    config::ClosestBy,
    documents::{CityDocument, Found, RegionDocument, SearchResult, WrongDocument},
    domain::{Among, City, Coordinates, Language, Region},
    queries::{
        by_distance_from, closest_query, featured_query, holds, name_query, one_of, small_source,
    },
};

/// A request must not wait for ever.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Nor must the start: an orchestrator must learn soon that it failed.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads cities anew for each request and remembers regions, which are few and never change.
pub struct Store {
    client: Elasticsearch,
    closest_by: ClosestBy,
    regions: RwLock<HashMap<u64, Arc<Region>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("elasticsearch does not answer")]
    Unavailable(#[source] elasticsearch::Error),
    #[error("elasticsearch answered with status {status}: {body}")]
    Refused { status: u16, body: String },
    #[error("elasticsearch answered with something else than a document or a search result")]
    Malformed(#[source] elasticsearch::Error),
    #[error(transparent)]
    Document(#[from] WrongDocument),
}

impl Store {
    /// Prepares a client; connects when it is first used.
    pub fn new(elastic: Url, closest_by: ClosestBy) -> Result<Self, BuildError> {
        let transport = TransportBuilder::new(SingleNodeConnectionPool::new(elastic))
            .disable_proxy()
            .timeout(TIMEOUT)
            .build()?;
        Ok(Self {
            client: Elasticsearch::new(transport),
            closest_by,
            regions: RwLock::default(),
        })
    }

    /// Fails unless Elasticsearch answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let request = self.client.info().request_timeout(START_TIMEOUT);
        let response = request.send().await.map_err(StoreError::Unavailable)?;
        if response.status_code().is_success() {
            Ok(())
        } else {
            Err(refused(response).await)
        }
    }

    pub async fn city(&self, id: u64) -> Result<Option<City>, StoreError> {
        let document = self
            .document::<CityDocument>("city", id, &["geometry", "population"])
            .await?;
        Ok(document.map(City::try_from).transpose()?)
    }

    /// The region, which must exist because a city names it.
    pub async fn region(&self, id: u64) -> Result<Arc<Region>, StoreError> {
        if let Some(region) = self.cached_region(id) {
            return Ok(region);
        }
        let document = self
            .document::<RegionDocument>("region", id, &["geometry"])
            .await?
            .ok_or_else(|| WrongDocument(format!("there is no region {id}")))?;
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
        let cities = match self.closest_by {
            ClosestBy::OneQuery => self.search(closest_query(coordinates, among)).await?,
            ClosestBy::TwoQueries => {
                let holding = self.search(holding_query(coordinates, among)).await?;
                if holding.is_empty() {
                    self.search(nearest_query(coordinates, among)).await?
                } else {
                    holding
                }
            }
        };
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
        Ok(found.document())
    }

    async fn search(&self, body: Value) -> Result<Vec<City>, StoreError> {
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
        Ok(result.cities()?)
    }
}

async fn refused(response: Response) -> StoreError {
    StoreError::Refused {
        status: response.status_code().as_u16(),
        body: response.text().await.unwrap_or_default(),
    }
}

/// The first of two queries: no city at all where no polygon holds the point.
fn holding_query(coordinates: Coordinates, among: Among) -> Value {
    json!({
        "query": { "bool": { "filter": [one_of(among), holds(coordinates)] } },
        "sort": [by_distance_from(coordinates)],
        "size": 1,
        "_source": small_source(),
    })
}

/// The second of two queries.
fn nearest_query(coordinates: Coordinates, among: Among) -> Value {
    json!({
        "query": { "bool": { "filter": one_of(among) } },
        "sort": [by_distance_from(coordinates)],
        "size": 1,
        "_source": small_source(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_queries_share_the_rules_of_one() {
        let coordinates = Coordinates::new(50.107, 14.574).unwrap();
        let one = closest_query(coordinates, Among::FeaturedCities);
        let holding = holding_query(coordinates, Among::FeaturedCities);
        let nearest = nearest_query(coordinates, Among::FeaturedCities);
        let filters = &holding["query"]["bool"]["filter"];
        assert_eq!(filters[0], one["query"]["bool"]["filter"]);
        assert_eq!(
            filters[1],
            one["query"]["bool"]["should"]["constant_score"]["filter"]
        );
        assert_eq!(nearest["query"]["bool"]["filter"], filters[0]);
        assert_eq!(nearest["sort"][0], one["sort"][1]);
    }
}
