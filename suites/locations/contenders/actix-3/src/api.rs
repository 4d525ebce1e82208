//! The HTTP side: routes, parameters and answers. Not for what the answers are.

mod error;
mod parameters;

use actix_service::ServiceFactory;
#[cfg(not(feature = "openapi"))]
use actix_web::web;
use actix_web::{
    App, Error, HttpRequest, HttpResponse,
    dev::{Body, ServiceRequest, ServiceResponse},
    web::QueryConfig,
};
#[cfg(feature = "openapi")]
use paperclip::{
    actix::{OpenApiExt, web},
    v2::models::{DefaultApiRaw, Info},
};
use serde::Serialize;

use crate::{
    api::{
        error::ApiError,
        parameters::{CityQuery, ClosestQuery, FeaturedQuery, SearchQuery, visitor},
    },
    domain::{Language, Locations, Place},
};

/// A city in the language asked for.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(paperclip::actix::Apiv2Schema))]
#[serde(rename_all = "camelCase")]
struct CityResponse {
    /// ISO 3166-1 alpha-2 code of the country.
    country_iso: String,
    id: u64,
    is_featured: bool,
    name: String,
    region_name: String,
}

/// Several cities, the most fitting first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "openapi", derive(paperclip::actix::Apiv2Schema))]
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
pub fn app(
    locations: web::Data<Locations>,
) -> App<
    impl ServiceFactory<
        Config = (),
        Request = ServiceRequest,
        Response = ServiceResponse<Body>,
        Error = Error,
        InitError = (),
    >,
    Body,
> {
    let app = App::new().app_data(locations).app_data(
        QueryConfig::default()
            .error_handler(|error, _| ApiError::BadRequest(error.to_string()).into()),
    );
    #[cfg(feature = "openapi")]
    let app = app.wrap_api_with_spec(description());
    let app = app
        .route("/city/v1/get", web::get().to(get))
        .route("/city/v1/closest", web::get().to(closest))
        .route(
            "/city/v1/associatedFeatured",
            web::get().to(associated_featured),
        )
        .route("/city/v1/search", web::get().to(search))
        .route("/city/v1/featured", web::get().to(featured));
    // Not paperclip's own route, which would answer 405 without a message to other methods.
    #[cfg(feature = "openapi")]
    let (app, docs) = {
        let mut docs = String::new();
        let app = app.with_raw_json_spec(|app, spec| {
            docs = spec.to_string();
            app
        });
        (app.build(), docs)
    };
    // What the other build makes, so that both answer alike.
    #[cfg(not(feature = "openapi"))]
    let docs = include_str!("../api-docs.json").to_owned();
    app.route(
        "/api-docs",
        actix_web::web::get().to(move || api_docs(docs.clone())),
    )
    .default_service(actix_web::web::to(unknown_path))
}

#[cfg(feature = "openapi")]
fn description() -> DefaultApiRaw {
    DefaultApiRaw {
        info: Info {
            title: "Locations".to_owned(),
            description: Some("Cities and the regions they lie in.".to_owned()),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ..Info::default()
        },
        ..DefaultApiRaw::default()
    }
}

/// The city with the given id.
#[cfg_attr(feature = "openapi", paperclip::actix::api_v2_operation)]
async fn get(
    query: web::Query<CityQuery>,
    locations: web::Data<Locations>,
) -> Result<web::Json<CityResponse>, ApiError> {
    let CityQuery { id, language } = query.into_inner();
    one(locations.get(id).await?, language, || no_city(id))
}

/// The city at the coordinates, or the closest one. Without coordinates, the featured city
/// closest to where the visitor seems to be.
#[cfg_attr(feature = "openapi", paperclip::actix::api_v2_operation)]
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
#[cfg_attr(feature = "openapi", paperclip::actix::api_v2_operation)]
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
#[cfg_attr(feature = "openapi", paperclip::actix::api_v2_operation)]
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
#[cfg_attr(feature = "openapi", paperclip::actix::api_v2_operation)]
async fn featured(
    query: web::Query<FeaturedQuery>,
    locations: web::Data<Locations>,
) -> Result<web::Json<MultiCityResponse>, ApiError> {
    let places = locations.featured(query.language).await?;
    Ok(web::Json(MultiCityResponse::new(places, query.language)))
}

async fn api_docs(docs: String) -> HttpResponse {
    HttpResponse::Ok()
        .content_type("application/json")
        .body(docs)
}

async fn unknown_path(request: HttpRequest) -> Result<HttpResponse, ApiError> {
    Err(ApiError::NotFound(format!(
        "there is no {} {}",
        request.method(),
        request.path()
    )))
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
