//! What a request may say, and what it must.

use std::convert::Infallible;

use rocket::{
    FromForm, Request,
    form::{self, Errors, FromFormField, ValueField},
    http::HeaderMap,
    request::{FromRequest, Outcome},
};
use serde::{Deserialize, de::IntoDeserializer};
use utoipa::IntoParams;

use crate::{
    api::error::ApiError,
    domain::{Coordinates, Language},
};

/// Parameters, or what is wrong with them. Without the `Result`, Rocket would look for another
/// route and end in its general answer 422.
pub(super) type Parsed<'r, T> = Result<T, Errors<'r>>;

pub(super) fn checked<T>(query: Parsed<'_, T>) -> Result<T, ApiError> {
    query.map_err(|errors| {
        let problems = errors.iter().map(|error| match &error.name {
            Some(name) => format!("`{name}`: {error}"),
            None => error.to_string(),
        });
        ApiError::BadRequest(problems.collect::<Vec<_>>().join(", "))
    })
}

#[derive(Debug, FromForm, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CityQuery {
    /// Who's On First id of a city.
    #[param(example = 101748109)]
    pub(super) id: u64,
    /// The language of names in the answer.
    #[param(inline)]
    pub(super) language: Language,
}

#[derive(Debug, FromForm, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ClosestQuery {
    /// Latitude in degrees; never without `lon`.
    #[param(value_type = Option<f64>, minimum = -90, maximum = 90)]
    lat: Degrees,
    /// Longitude in degrees; never without `lat`.
    #[param(value_type = Option<f64>, minimum = -180, maximum = 180)]
    lon: Degrees,
    /// The language of names in the answer.
    #[param(inline)]
    pub(super) language: Language,
}

impl ClosestQuery {
    pub(super) fn coordinates(&self) -> Result<Option<Coordinates>, ApiError> {
        match (self.lat.0, self.lon.0) {
            (Some(lat), Some(lon)) => Ok(Some(Coordinates::new(lat, lon)?)),
            (None, None) => Ok(None),
            (Some(_), None) => Err(ApiError::BadRequest("lat is given without lon".to_owned())),
            (None, Some(_)) => Err(ApiError::BadRequest("lon is given without lat".to_owned())),
        }
    }
}

#[derive(Debug, FromForm, IntoParams)]
#[into_params(parameter_in = Query, rename_all = "camelCase")]
pub(super) struct SearchQuery {
    /// The beginning of a name, or several words of which the last is a beginning.
    #[param(min_length = 1)]
    query: String,
    /// The language of names in the answer, preferred in the search as well.
    #[param(inline)]
    pub(super) language: Language,
    /// ISO 3166-1 alpha-2 code of the country to which the search is limited.
    #[field(name = "countryIso")]
    pub(super) country_iso: Option<String>,
}

impl SearchQuery {
    pub(super) fn text(&self) -> Result<&str, ApiError> {
        if self.query.trim().is_empty() {
            return Err(ApiError::BadRequest("query must not be empty".to_owned()));
        }
        Ok(&self.query)
    }
}

#[derive(Debug, FromForm, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FeaturedQuery {
    /// The language of names in the answer; its own country comes first.
    #[param(inline)]
    pub(super) language: Language,
}

/// A number that may be missing but not wrong: Rocket's `Option` takes a wrong one for none.
#[derive(Debug, Clone, Copy)]
struct Degrees(Option<f64>);

impl<'v> FromFormField<'v> for Degrees {
    fn from_value(field: ValueField<'v>) -> form::Result<'v, Self> {
        Ok(Self(Some(field.value.parse()?)))
    }

    fn default() -> Option<Self> {
        Some(Self(None))
    }
}

impl<'v> FromFormField<'v> for Language {
    fn from_value(field: ValueField<'v>) -> form::Result<'v, Self> {
        let code: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            field.value.into_deserializer();
        Self::deserialize(code).map_err(|error| form::Error::validation(error.to_string()).into())
    }
}

/// Where the content delivery network believes the visitor to be.
pub(super) struct Visitor(pub(super) Option<Coordinates>);

#[rocket::async_trait]
impl<'r> FromRequest<'r> for Visitor {
    type Error = Infallible;

    async fn from_request(request: &'r Request<'_>) -> Outcome<Self, Infallible> {
        Outcome::Success(Self(visitor(request.headers())))
    }
}

/// The network sends 0, 0 when it does not know, and nothing it sends is the visitor's fault:
/// whatever is wrong counts as unknown.
fn visitor(headers: &HeaderMap<'_>) -> Option<Coordinates> {
    let degrees = |name| headers.get_one(name)?.trim().parse::<f64>().ok();
    match (degrees("fastly-geo-lat")?, degrees("fastly-geo-lon")?) {
        (0.0, 0.0) => None,
        (lat, lon) => Coordinates::new(lat, lon).ok(),
    }
}

#[cfg(test)]
mod tests {
    use rocket::http::Header;

    use super::*;

    #[test]
    fn visitors_are_where_the_headers_say() {
        let cases = [
            ("50", "14", Coordinates::new(50.0, 14.0).ok()),
            ("0", "14.5", Coordinates::new(0.0, 14.5).ok()),
            ("0", "0", None),
            ("0.0", "-0", None),
            ("91", "14", None),
            ("north", "14", None),
        ];
        for (lat, lon, expect) in cases {
            let mut headers = HeaderMap::new();
            headers.add(Header::new("Fastly-Geo-Lat", lat));
            headers.add(Header::new("Fastly-Geo-Lon", lon));
            assert_eq!(visitor(&headers), expect, "{lat}, {lon}");
        }
        assert_eq!(visitor(&HeaderMap::new()), None);
    }
}
