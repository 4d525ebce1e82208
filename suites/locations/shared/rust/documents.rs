//! What Elasticsearch stores: the documents of cities and regions, and the answers that hold them.

use serde::Deserialize;

use crate::domain::{City, Coordinates, Names};

/// A document of a city or region that breaks its rules.
#[derive(Debug, thiserror::Error)]
#[error("the document of a city or region is wrong: {0}")]
pub struct WrongDocument(pub String);

/// The answer to a request for one document.
#[derive(Deserialize)]
pub struct Found<T> {
    found: bool,
    #[serde(rename = "_source")]
    source: Option<T>,
}

impl<T> Found<T> {
    pub fn document(self) -> Option<T> {
        self.source.filter(|_| self.found)
    }
}

/// The answer to a search for cities.
#[derive(Deserialize)]
pub struct SearchResult {
    hits: Hits,
}

impl SearchResult {
    pub fn cities(self) -> Result<Vec<City>, WrongDocument> {
        let hits = self.hits.hits.into_iter();
        hits.map(|hit| City::try_from(hit.source)).collect()
    }
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
pub struct CityDocument {
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
    type Error = WrongDocument;

    fn try_from(document: CityDocument) -> Result<Self, WrongDocument> {
        let CityDocument { id, centroid, .. } = document;
        let centroid = Coordinates::new(centroid.lat, centroid.lon)
            .map_err(|problem| WrongDocument(format!("city {id}: {problem}")))?;
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
pub struct RegionDocument {
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
    pub fn names(self) -> Names {
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
    use crate::domain::Language;

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
