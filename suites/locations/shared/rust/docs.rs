//! The OpenAPI description, generated from the handlers and the types of their parameters and
//! answers.

use utoipa::OpenApi;

use crate::{
    api::{CityResponse, ErrorResponse, MultiCityResponse},
    domain::Language,
};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Locations",
        description = "Cities and the regions they lie in."
    ),
    paths(
        super::get,
        super::closest,
        super::associated_featured,
        super::search,
        super::featured
    ),
    components(schemas(CityResponse, MultiCityResponse, ErrorResponse, Language))
)]
struct Docs;

pub(super) fn openapi() -> utoipa::openapi::OpenApi {
    Docs::openapi()
}
