//! The HTTP side: routes, parameters and answers. Not for what the answers are.

mod docs;
mod error;
mod parameters;

use std::sync::Arc;

use serde::Serialize;
use tide::{Body, Server};
use utoipa::ToSchema;

use crate::{
    api::{
        error::{ApiError, ErrorResponse, ErrorsAsJson},
        parameters::{CityQuery, ClosestQuery, FeaturedQuery, SearchQuery, visitor},
    },
    domain::{Language, Locations, Place},
};

type Request = tide::Request<Arc<Locations>>;

/// A city in the language asked for.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct CityResponse {
    /// ISO 3166-1 alpha-2 code of the country.
    #[schema(example = "CZ")]
    country_iso: String,
    #[schema(example = 101748109)]
    id: u64,
    is_featured: bool,
    #[schema(example = "Brno")]
    name: String,
    #[schema(example = "Jihomoravský kraj")]
    region_name: String,
}

/// Several cities, the most fitting first.
#[derive(Debug, Serialize, ToSchema)]
struct MultiCityResponse {
    cities: Vec<CityResponse>,
}

impl CityResponse {
    fn new(place: Place, language: Language) -> Self {
        Self {
            name: place.city.names.in_language(language).to_owned(),
            region_name: place.region.names.in_language(language).to_owned(),
            country_iso: place.city.country_iso,
            id: place.city.id,
            is_featured: place.city.is_featured,
        }
    }
}

impl MultiCityResponse {
    fn new(places: Vec<Place>, language: Language) -> Self {
        let cities = places.into_iter();
        Self {
            cities: cities
                .map(|place| CityResponse::new(place, language))
                .collect(),
        }
    }
}

/// The whole application; Tide itself logs each request and each answer.
pub fn app(locations: Locations) -> Server<Arc<Locations>> {
    let mut app = tide::with_state(Arc::new(locations));
    app.with(ErrorsAsJson);
    app.at("/city/v1/get").get(get);
    app.at("/city/v1/closest").get(closest);
    app.at("/city/v1/associatedFeatured")
        .get(associated_featured);
    app.at("/city/v1/search").get(search);
    app.at("/city/v1/featured").get(featured);
    app.at("/api-docs").get(api_docs);
    app
}

/// The city with the given id.
#[utoipa::path(
    get,
    path = "/city/v1/get",
    params(CityQuery),
    responses(
        (status = 200, description = "the city", body = CityResponse),
        (status = 400, description = "a parameter is missing or wrong", body = ErrorResponse),
        (status = 404, description = "there is no such city", body = ErrorResponse),
    )
)]
async fn get(request: Request) -> tide::Result<Body> {
    let CityQuery { id, language } = request.query()?;
    let place = request.state().get(id).await.map_err(ApiError::from)?;
    one(place, language, || no_city(id))
}

/// The city at the coordinates, or the closest one. Without coordinates, the featured city
/// closest to where the visitor seems to be.
#[utoipa::path(
    get,
    path = "/city/v1/closest",
    params(ClosestQuery),
    responses(
        (status = 200, description = "the city", body = CityResponse),
        (
            status = 400,
            description = "a parameter is missing, wrong or out of range",
            body = ErrorResponse
        ),
    )
)]
async fn closest(request: Request) -> tide::Result<Body> {
    let query: ClosestQuery = request.query()?;
    let language = query.language;
    let locations = request.state();
    let place = match query.coordinates()? {
        Some(coordinates) => locations.closest(coordinates).await,
        None => {
            let visitor = visitor(&request);
            locations.closest_for_visitor(visitor, language).await
        }
    };
    one(place.map_err(ApiError::from)?, language, || {
        "there are no cities".to_owned()
    })
}

/// The featured city closest to the city with the given id.
#[utoipa::path(
    get,
    path = "/city/v1/associatedFeatured",
    params(CityQuery),
    responses(
        (status = 200, description = "the featured city", body = CityResponse),
        (status = 400, description = "a parameter is missing or wrong", body = ErrorResponse),
        (status = 404, description = "there is no such city", body = ErrorResponse),
    )
)]
async fn associated_featured(request: Request) -> tide::Result<Body> {
    let CityQuery { id, language } = request.query()?;
    let place = request.state().associated_featured(id).await;
    one(place.map_err(ApiError::from)?, language, || no_city(id))
}

/// Up to ten cities whose name begins with the query, perhaps none.
#[utoipa::path(
    get,
    path = "/city/v1/search",
    params(SearchQuery),
    responses(
        (status = 200, description = "the cities", body = MultiCityResponse),
        (
            status = 400,
            description = "a parameter is missing, wrong or empty",
            body = ErrorResponse
        ),
    )
)]
async fn search(request: Request) -> tide::Result<Body> {
    let query: SearchQuery = request.query()?;
    let country_iso = query.country_iso.as_deref();
    let places = request
        .state()
        .search(query.text()?, query.language, country_iso)
        .await
        .map_err(ApiError::from)?;
    Body::from_json(&MultiCityResponse::new(places, query.language))
}

/// All featured cities, those of the language's own country first.
#[utoipa::path(
    get,
    path = "/city/v1/featured",
    params(FeaturedQuery),
    responses(
        (status = 200, description = "the cities", body = MultiCityResponse),
        (status = 400, description = "the language is missing or unknown", body = ErrorResponse),
    )
)]
async fn featured(request: Request) -> tide::Result<Body> {
    let FeaturedQuery { language } = request.query()?;
    let places = request.state().featured(language).await;
    let places = places.map_err(ApiError::from)?;
    Body::from_json(&MultiCityResponse::new(places, language))
}

async fn api_docs(_: Request) -> tide::Result<Body> {
    Body::from_json(&docs::openapi())
}

fn one(
    place: Option<Place>,
    language: Language,
    otherwise: impl FnOnce() -> String,
) -> tide::Result<Body> {
    match place {
        Some(place) => Body::from_json(&CityResponse::new(place, language)),
        None => Err(ApiError::NotFound(otherwise()).into()),
    }
}

fn no_city(id: u64) -> String {
    format!("there is no city {id}")
}

#[cfg(test)]
mod tests;
