//! The HTTP side: routes, parameters and answers. Not for what the answers are.

mod docs;
mod error;
mod parameters;

use actix_web::{HttpRequest, HttpResponse, Responder, get, web};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    api::{
        error::{ApiError, ErrorResponse},
        parameters::{CityQuery, ClosestQuery, FeaturedQuery, SearchQuery, visitor},
    },
    domain::{Language, Locations, Place},
};

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

/// Everything of the application but its data and its logging.
pub fn configure(config: &mut web::ServiceConfig) {
    config
        .service(get)
        .service(closest)
        .service(associated_featured)
        .service(search)
        .service(featured)
        .service(api_docs);
}

pub fn query_config() -> web::QueryConfig {
    web::QueryConfig::default()
        .error_handler(|error, _| ApiError::BadRequest(error.to_string()).into())
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
#[get("/city/v1/get")]
async fn get(
    query: web::Query<CityQuery>,
    locations: web::Data<Locations>,
) -> Result<web::Json<CityResponse>, ApiError> {
    let CityQuery { id, language } = query.into_inner();
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
#[get("/city/v1/closest")]
async fn closest(
    query: web::Query<ClosestQuery>,
    request: HttpRequest,
    locations: web::Data<Locations>,
) -> Result<web::Json<CityResponse>, ApiError> {
    let language = query.language;
    let place = match query.coordinates()? {
        Some(coordinates) => locations.closest(coordinates).await?,
        None => {
            let visitor = visitor(request.headers());
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
#[get("/city/v1/associatedFeatured")]
async fn associated_featured(
    query: web::Query<CityQuery>,
    locations: web::Data<Locations>,
) -> Result<web::Json<CityResponse>, ApiError> {
    let CityQuery { id, language } = query.into_inner();
    one(locations.associated_featured(id).await?, language, || {
        no_city(id)
    })
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
#[get("/city/v1/search")]
async fn search(
    query: web::Query<SearchQuery>,
    locations: web::Data<Locations>,
) -> Result<web::Json<MultiCityResponse>, ApiError> {
    let country_iso = query.country_iso.as_deref();
    let places = locations
        .search(query.text()?, query.language, country_iso)
        .await?;
    Ok(web::Json(MultiCityResponse::new(places, query.language)))
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
#[get("/city/v1/featured")]
async fn featured(
    query: web::Query<FeaturedQuery>,
    locations: web::Data<Locations>,
) -> Result<web::Json<MultiCityResponse>, ApiError> {
    let places = locations.featured(query.language).await?;
    Ok(web::Json(MultiCityResponse::new(places, query.language)))
}

#[get("/api-docs")]
async fn api_docs() -> impl Responder {
    HttpResponse::Ok().json(docs::openapi())
}

pub async fn unknown_path(request: HttpRequest) -> actix_web::Result<HttpResponse> {
    let (method, path) = (request.method(), request.path());
    Err(ApiError::NotFound(format!("there is no {method} {path}")).into())
}

fn one(
    place: Option<Place>,
    language: Language,
    otherwise: impl FnOnce() -> String,
) -> Result<web::Json<CityResponse>, ApiError> {
    match place {
        Some(place) => Ok(web::Json(CityResponse::new(place, language))),
        None => Err(ApiError::NotFound(otherwise())),
    }
}

fn no_city(id: u64) -> String {
    format!("there is no city {id}")
}

#[cfg(test)]
mod tests;
