//! The HTTP side: routes, parameters and answers. Not for what the answers are.

mod docs;
mod error;
mod parameters;

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{HeaderMap, Method, Uri},
    routing::get,
};
use serde::Serialize;
use tower_http::trace::{DefaultMakeSpan, DefaultOnResponse, TraceLayer};
use tracing::Level;
use utoipa::ToSchema;

use crate::{
    api::{
        error::{ApiError, ErrorResponse},
        parameters::{CityQuery, ClosestQuery, FeaturedQuery, Query, SearchQuery, visitor},
    },
    domain::{Language, Locations, Place},
};

type Shared = State<Arc<Locations>>;

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

/// The whole application, with a line in the log for each answer.
pub fn router(locations: Locations) -> Router {
    let trace = TraceLayer::new_for_http()
        .make_span_with(DefaultMakeSpan::new().level(Level::INFO))
        .on_response(DefaultOnResponse::new().level(Level::INFO));
    Router::new()
        .route("/city/v1/get", get(city))
        .route("/city/v1/closest", get(closest))
        .route("/city/v1/associatedFeatured", get(associated_featured))
        .route("/city/v1/search", get(search))
        .route("/city/v1/featured", get(featured))
        .route("/api-docs", get(api_docs))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(trace)
        .with_state(Arc::new(locations))
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
async fn city(
    State(locations): Shared,
    Query(CityQuery { id, language }): Query<CityQuery>,
) -> Result<Json<CityResponse>, ApiError> {
    one(locations.get(id).await?, language, || no_city(id))
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
async fn closest(
    State(locations): Shared,
    Query(query): Query<ClosestQuery>,
    headers: HeaderMap,
) -> Result<Json<CityResponse>, ApiError> {
    let language = query.language;
    let place = match query.coordinates()? {
        Some(coordinates) => locations.closest(coordinates).await?,
        None => {
            let visitor = visitor(&headers);
            locations.closest_for_visitor(visitor, language).await?
        }
    };
    one(place, language, || "there are no cities".to_owned())
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
async fn associated_featured(
    State(locations): Shared,
    Query(CityQuery { id, language }): Query<CityQuery>,
) -> Result<Json<CityResponse>, ApiError> {
    let place = locations.associated_featured(id).await?;
    one(place, language, || no_city(id))
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
async fn search(
    State(locations): Shared,
    Query(query): Query<SearchQuery>,
) -> Result<Json<MultiCityResponse>, ApiError> {
    let country_iso = query.country_iso.as_deref();
    let places = locations
        .search(query.text()?, query.language, country_iso)
        .await?;
    Ok(Json(MultiCityResponse::new(places, query.language)))
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
async fn featured(
    State(locations): Shared,
    Query(FeaturedQuery { language }): Query<FeaturedQuery>,
) -> Result<Json<MultiCityResponse>, ApiError> {
    let places = locations.featured(language).await?;
    Ok(Json(MultiCityResponse::new(places, language)))
}

async fn api_docs() -> Json<utoipa::openapi::OpenApi> {
    Json(docs::openapi())
}

async fn unknown_path(method: Method, uri: Uri) -> ApiError {
    ApiError::NotFound(format!("there is no {method} {}", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    ApiError::WrongMethod(format!("{} does not take {method}", uri.path()))
}

fn one(
    place: Option<Place>,
    language: Language,
    otherwise: impl FnOnce() -> String,
) -> Result<Json<CityResponse>, ApiError> {
    match place {
        Some(place) => Ok(Json(CityResponse::new(place, language))),
        None => Err(ApiError::NotFound(otherwise())),
    }
}

fn no_city(id: u64) -> String {
    format!("there is no city {id}")
}

#[cfg(test)]
mod tests;
