//! The HTTP side: routes, parameters and answers. Not for what the answers are.

mod docs;
mod error;
mod parameters;

use rocket::{catch, catchers, fairing::AdHoc, get, http::Status, routes, Request, State};
use rocket_contrib::json::Json;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    api::{
        error::{ApiError, ErrorResponse},
        parameters::{
            checked, CityQuery, ClosestQuery, FeaturedQuery, Parsed, SearchQuery, Visitor,
        },
    },
    bridge::Bridge,
    domain::{Language, Place},
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

/// Everything of the application but its logging.
pub fn stage(bridge: Bridge) -> AdHoc {
    AdHoc::on_attach("API", |rocket| {
        Ok(rocket
            .manage(bridge)
            .mount(
                "/",
                routes![
                    get,
                    closest,
                    associated_featured,
                    search,
                    featured,
                    api_docs
                ],
            )
            .register(catchers![bad_request, unknown_path, internal_error]))
    })
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
#[get("/city/v1/get?<query..>")]
fn get(
    query: Parsed<'_, CityQuery>,
    bridge: State<'_, Bridge>,
) -> Result<Json<CityResponse>, ApiError> {
    let CityQuery { id, language } = checked(query)?;
    let place = bridge.ask(|locations| async move { locations.get(id).await })?;
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
#[get("/city/v1/closest?<query..>")]
fn closest(
    query: Parsed<'_, ClosestQuery>,
    visitor: Visitor,
    bridge: State<'_, Bridge>,
) -> Result<Json<CityResponse>, ApiError> {
    let query = checked(query)?;
    let language = query.language;
    let coordinates = query.coordinates()?;
    let place = bridge.ask(|locations| async move {
        match coordinates {
            Some(coordinates) => locations.closest(coordinates).await,
            None => locations.closest_for_visitor(visitor.0, language).await,
        }
    })?;
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
#[get("/city/v1/associatedFeatured?<query..>")]
fn associated_featured(
    query: Parsed<'_, CityQuery>,
    bridge: State<'_, Bridge>,
) -> Result<Json<CityResponse>, ApiError> {
    let CityQuery { id, language } = checked(query)?;
    let place = bridge.ask(|locations| async move { locations.associated_featured(id).await })?;
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
#[get("/city/v1/search?<query..>")]
fn search(
    query: Parsed<'_, SearchQuery>,
    bridge: State<'_, Bridge>,
) -> Result<Json<MultiCityResponse>, ApiError> {
    let query = checked(query)?;
    let (text, language) = (query.text()?, query.language);
    let country_iso = query.country_iso.as_deref();
    let places = bridge
        .ask(|locations| async move { locations.search(text, language, country_iso).await })?;
    Ok(Json(MultiCityResponse::new(places, language)))
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
#[get("/city/v1/featured?<query..>")]
fn featured(
    query: Parsed<'_, FeaturedQuery>,
    bridge: State<'_, Bridge>,
) -> Result<Json<MultiCityResponse>, ApiError> {
    let FeaturedQuery { language } = checked(query)?;
    let places = bridge.ask(|locations| async move { locations.featured(language).await })?;
    Ok(Json(MultiCityResponse::new(places, language)))
}

#[get("/api-docs")]
fn api_docs() -> Json<utoipa::openapi::OpenApi> {
    Json(docs::openapi())
}

#[catch(404)]
fn unknown_path(request: &Request<'_>) -> ApiError {
    ApiError::NotFound(format!(
        "there is no {} {}",
        request.method(),
        request.uri().path()
    ))
}

/// A request that Rocket cannot read.
#[catch(400)]
fn bad_request() -> ApiError {
    ApiError::Framework(Status::BadRequest)
}

/// Something that Rocket fails at by itself.
#[catch(500)]
fn internal_error() -> ApiError {
    ApiError::Framework(Status::InternalServerError)
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
