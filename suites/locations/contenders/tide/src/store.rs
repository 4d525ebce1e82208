//! Cities and regions in Elasticsearch: the client and its errors. Not for rules about them.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use async_std::future::timeout;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use surf::{Client, Response, StatusCode, Url};

use crate::{
    documents::{CityDocument, Found, RegionDocument, SearchResult, WrongDocument},
    domain::{Among, City, Coordinates, Language, Region},
    queries::{closest_query, featured_query, name_query},
};

/// A request must not wait for ever.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Nor must the start: an orchestrator must learn soon that it failed.
const START_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads cities anew for each request and remembers regions, which are few and never change.
pub struct Store {
    client: Client,
    regions: RwLock<HashMap<u64, Arc<Region>>>,
}

#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error("elasticsearch does not answer: {0}")]
    Unavailable(surf::Error),
    #[error("elasticsearch does not answer in time")]
    Late,
    #[error("elasticsearch answered with status {status}: {body}")]
    Refused { status: u16, body: String },
    #[error("elasticsearch answered with something else than a document or a search result: {0}")]
    Malformed(surf::Error),
    #[error(transparent)]
    Document(#[from] WrongDocument),
}

/// Which fields of a document to leave out.
#[derive(Serialize)]
struct Excluded<'a> {
    #[serde(rename = "_source_excludes")]
    source_excludes: &'a str,
}

impl Store {
    /// Prepares a client; connects when it is first used.
    pub fn new(elastic: Url) -> Result<Self, std::convert::Infallible> {
        let config = surf::Config::new()
            .set_base_url(elastic)
            .set_tcp_no_delay(true);
        Ok(Self {
            client: config.try_into()?,
            regions: RwLock::default(),
        })
    }

    /// Fails unless Elasticsearch answers.
    pub async fn ping(&self) -> Result<(), StoreError> {
        within(START_TIMEOUT, async {
            let response = self.client.get("/").await;
            let response = response.map_err(StoreError::Unavailable)?;
            if response.status().is_success() {
                Ok(())
            } else {
                Err(refused(response).await)
            }
        })
        .await
    }

    pub async fn city(&self, id: u64) -> Result<Option<City>, StoreError> {
        let document = self
            .document::<CityDocument>("city", id, "geometry,population")
            .await?;
        Ok(document.map(City::try_from).transpose()?)
    }

    /// The region, which must exist because a city names it.
    pub async fn region(&self, id: u64) -> Result<Arc<Region>, StoreError> {
        if let Some(region) = self.cached_region(id) {
            return Ok(region);
        }
        let document = self
            .document::<RegionDocument>("region", id, "geometry")
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
        source_excludes: &str,
    ) -> Result<Option<T>, StoreError> {
        within(TIMEOUT, self.read_document(index, id, source_excludes)).await
    }

    async fn read_document<T: DeserializeOwned>(
        &self,
        index: &str,
        id: u64,
        source_excludes: &str,
    ) -> Result<Option<T>, StoreError> {
        let mut response = self
            .client
            .get(format!("/{index}/_doc/{id}"))
            .query(&Excluded { source_excludes })
            .map_err(StoreError::Unavailable)?
            .await
            .map_err(StoreError::Unavailable)?;
        // A missing document is also a 404. A missing index is one too, but its answer is no
        // `Found` and so an error.
        if !response.status().is_success() && response.status() != StatusCode::NotFound {
            return Err(refused(response).await);
        }
        let found: Found<T> = response.body_json().await.map_err(StoreError::Malformed)?;
        Ok(found.document())
    }

    async fn search(&self, body: Value) -> Result<Vec<City>, StoreError> {
        within(TIMEOUT, self.read_cities(body)).await
    }

    async fn read_cities(&self, body: Value) -> Result<Vec<City>, StoreError> {
        let mut response = self
            .client
            .post("/city/_search")
            .body_json(&body)
            .map_err(StoreError::Malformed)?
            .await
            .map_err(StoreError::Unavailable)?;
        if !response.status().is_success() {
            return Err(refused(response).await);
        }
        let result: SearchResult = response.body_json().await.map_err(StoreError::Malformed)?;
        Ok(result.cities()?)
    }
}

/// The client's own limit is for the head of the answer only.
async fn within<T>(
    limit: Duration,
    answer: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, StoreError> {
    timeout(limit, answer)
        .await
        .unwrap_or(Err(StoreError::Late))
}

async fn refused(mut response: Response) -> StoreError {
    StoreError::Refused {
        status: response.status().into(),
        body: response.body_string().await.unwrap_or_default(),
    }
}
