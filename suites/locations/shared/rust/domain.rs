//! Languages, cities and regions, and what can be asked about them. Knows nothing of HTTP.

use std::sync::Arc;

use serde::Deserialize;
use utoipa::ToSchema;

use crate::store::{Store, StoreError};

/// The languages in which names are known, as two-letter codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    Cs,
    De,
    En,
    Pl,
    Sk,
}

impl Language {
    /// The code, as in parameters and in names of fields.
    pub fn code(self) -> &'static str {
        match self {
            Self::Cs => "cs",
            Self::De => "de",
            Self::En => "en",
            Self::Pl => "pl",
            Self::Sk => "sk",
        }
    }

    /// The country whose cities are listed first.
    pub fn home_country(self) -> &'static str {
        match self {
            Self::Cs | Self::En => "CZ",
            Self::De => "DE",
            Self::Pl => "PL",
            Self::Sk => "SK",
        }
    }

    /// The city assumed for visitors of whom nothing else is known.
    pub fn default_city(self) -> u64 {
        match self {
            Self::Cs | Self::En => 101_748_113,
            Self::De => 101_909_779,
            Self::Pl => 101_752_777,
            Self::Sk => 1_108_800_123,
        }
    }
}

/// A point on Earth, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coordinates {
    lat: f64,
    lon: f64,
}

/// A coordinate beyond the poles or the date line.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum OutOfRange {
    #[error("lat must be between -90 and 90, not {0}")]
    Latitude(f64),
    #[error("lon must be between -180 and 180, not {0}")]
    Longitude(f64),
}

impl Coordinates {
    pub fn new(lat: f64, lon: f64) -> Result<Self, OutOfRange> {
        if !(-90.0..=90.0).contains(&lat) {
            return Err(OutOfRange::Latitude(lat));
        }
        if !(-180.0..=180.0).contains(&lon) {
            return Err(OutOfRange::Longitude(lon));
        }
        Ok(Self { lat, lon })
    }

    pub fn lat(self) -> f64 {
        self.lat
    }

    pub fn lon(self) -> f64 {
        self.lon
    }
}

/// A name in every language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Names {
    pub cs: String,
    pub de: String,
    pub en: String,
    pub pl: String,
    pub sk: String,
}

impl Names {
    pub fn in_language(&self, language: Language) -> &str {
        match language {
            Language::Cs => &self.cs,
            Language::De => &self.de,
            Language::En => &self.en,
            Language::Pl => &self.pl,
            Language::Sk => &self.sk,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct City {
    pub id: u64,
    pub country_iso: String,
    pub region_id: u64,
    pub centroid: Coordinates,
    pub is_featured: bool,
    pub names: Names,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Region {
    pub names: Names,
}

/// A city together with the region it lies in.
#[derive(Debug, PartialEq)]
pub struct Place {
    pub city: City,
    pub region: Arc<Region>,
}

/// Which cities a search by coordinates considers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Among {
    AllCities,
    FeaturedCities,
}

/// What the service can tell about places. `None` means that there is no such place.
pub struct Locations {
    store: Store,
}

impl Locations {
    pub fn new(store: Store) -> Self {
        Self { store }
    }

    pub async fn get(&self, id: u64) -> Result<Option<Place>, StoreError> {
        self.placed(self.store.city(id).await?).await
    }

    pub async fn featured(&self, language: Language) -> Result<Vec<Place>, StoreError> {
        self.all_placed(self.store.featured_cities(language).await?)
            .await
    }

    pub async fn search(
        &self,
        query: &str,
        language: Language,
        country_iso: Option<&str>,
    ) -> Result<Vec<Place>, StoreError> {
        let cities = self
            .store
            .search_cities(query, language, country_iso)
            .await?;
        self.all_placed(cities).await
    }

    pub async fn closest(&self, coordinates: Coordinates) -> Result<Option<Place>, StoreError> {
        let city = self.store.closest_city(coordinates, Among::AllCities);
        self.placed(city.await?).await
    }

    /// For visitors who say nothing of where they are: the featured city near where they seem to
    /// be, or else the default city of their language.
    pub async fn closest_for_visitor(
        &self,
        visitor: Option<Coordinates>,
        language: Language,
    ) -> Result<Option<Place>, StoreError> {
        let city = match visitor {
            Some(coordinates) => {
                self.store
                    .closest_city(coordinates, Among::FeaturedCities)
                    .await?
            }
            None => self.store.city(language.default_city()).await?,
        };
        self.placed(city).await
    }

    /// A featured city is its own; any other belongs to the closest featured one.
    pub async fn associated_featured(&self, id: u64) -> Result<Option<Place>, StoreError> {
        let city = match self.store.city(id).await? {
            Some(city) if !city.is_featured => {
                self.store
                    .closest_city(city.centroid, Among::FeaturedCities)
                    .await?
            }
            found => found,
        };
        self.placed(city).await
    }

    async fn all_placed(&self, cities: Vec<City>) -> Result<Vec<Place>, StoreError> {
        let mut places = Vec::with_capacity(cities.len());
        for city in cities {
            places.push(self.in_region(city).await?);
        }
        Ok(places)
    }

    async fn placed(&self, city: Option<City>) -> Result<Option<Place>, StoreError> {
        match city {
            Some(city) => Ok(Some(self.in_region(city).await?)),
            None => Ok(None),
        }
    }

    async fn in_region(&self, city: City) -> Result<Place, StoreError> {
        let region = self.store.region(city.region_id).await?;
        Ok(Place { city, region })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_end_at_the_poles_and_the_date_line() {
        assert!(Coordinates::new(-90.0, 180.0).is_ok());
        assert_eq!(
            Coordinates::new(-90.3, 14.0),
            Err(OutOfRange::Latitude(-90.3))
        );
        assert_eq!(
            Coordinates::new(50.0, 192.0),
            Err(OutOfRange::Longitude(192.0))
        );
        assert!(Coordinates::new(f64::NAN, 14.0).is_err());
    }
}
