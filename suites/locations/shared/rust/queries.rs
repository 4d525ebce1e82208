//! What Elasticsearch is asked: cities by language, name and place.

use serde_json::{Value, json};

use crate::domain::{Among, Coordinates, Language};

const FEATURED_MAX: u64 = 1_000;
const FOUND_MAX: u64 = 10;
const POPULATION_IF_MISSING: u64 = 500;

/// Cities of the language's own country score 1 and all others 0.
pub fn featured_query(language: Language) -> Value {
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
pub fn name_query(query: &str, language: Language, country_iso: Option<&str>) -> Value {
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
pub fn closest_query(coordinates: Coordinates, among: Among) -> Value {
    json!({
        "query": { "bool": {
            "filter": one_of(among),
            "should": { "constant_score": { "filter": holds(coordinates) } },
        } },
        "sort": [{ "_score": "desc" }, by_distance_from(coordinates)],
        "size": 1,
        "_source": small_source(),
    })
}

pub fn one_of(among: Among) -> Value {
    match among {
        Among::AllCities => any_city(),
        Among::FeaturedCities => featured(),
    }
}

pub fn holds(coordinates: Coordinates) -> Value {
    json!({ "geo_shape": { "geometry": {
        "shape": { "type": "point", "coordinates": [coordinates.lon(), coordinates.lat()] },
        "relation": "intersects",
    } } })
}

pub fn by_distance_from(coordinates: Coordinates) -> Value {
    json!({ "_geo_distance": {
        "centroid": { "lat": coordinates.lat(), "lon": coordinates.lon() },
        "order": "asc",
    } })
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

pub fn small_source() -> Value {
    json!({ "excludes": ["geometry", "population"] })
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
}
