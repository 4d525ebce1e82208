//! What a request may say, and what it must.

use std::convert::Infallible;

use rocket::{
    http::{HeaderMap, RawStr},
    request::{FormParseError, FromForm, FromFormValue, FromRequest, LenientForm, Outcome},
    Request,
};
use serde::{
    de::{
        value::{Error as CodeError, StrDeserializer},
        IntoDeserializer,
    },
    Deserialize,
};
use utoipa::IntoParams;

use crate::{
    api::error::ApiError,
    domain::{Coordinates, Language},
};

/// Parameters, or what is wrong with them. Without the `Result`, Rocket would look for another
/// route and end in its general answer 404. Unknown ones are overlooked.
pub(super) type Parsed<'q, T> = Result<LenientForm<T>, FormParseError<'q>>;

pub(super) fn checked<T>(query: Parsed<'_, T>) -> Result<T, ApiError> {
    let query = query.map_err(|error| {
        ApiError::BadRequest(match error {
            FormParseError::BadValue(name, value) => format!("`{name}` cannot be {value:?}"),
            FormParseError::Unknown(name, _) => format!("there is no `{name}`"),
            FormParseError::Missing(name) => format!("`{name}` is missing"),
        })
    })?;
    Ok(query.into_inner())
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
    #[form(field = "countryIso")]
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

impl<'v> FromFormValue<'v> for Degrees {
    type Error = &'v RawStr;

    fn from_form_value(value: &'v RawStr) -> Result<Self, Self::Error> {
        f64::from_form_value(value).map(|degrees| Self(Some(degrees)))
    }

    fn default() -> Option<Self> {
        Some(Self(None))
    }
}

impl<'v> FromFormValue<'v> for Language {
    type Error = CodeError;

    fn from_form_value(value: &'v RawStr) -> Result<Self, Self::Error> {
        let code: StrDeserializer<'_, CodeError> = value.as_str().into_deserializer();
        Self::deserialize(code)
    }
}

/// Where the content delivery network believes the visitor to be.
pub(super) struct Visitor(pub(super) Option<Coordinates>);

impl<'a, 'r> FromRequest<'a, 'r> for Visitor {
    type Error = Infallible;

    fn from_request(request: &'a Request<'r>) -> Outcome<Self, Infallible> {
        Outcome::Success(Self(visitor(request.headers())))
    }
}

/// The network sends 0, 0 when it does not know, and nothing it sends is the visitor's fault:
/// whatever is wrong counts as unknown.
fn visitor(headers: &HeaderMap<'_>) -> Option<Coordinates> {
    let degrees = |name| headers.get_one(name)?.trim().parse::<f64>().ok();
    match (degrees("fastly-geo-lat")?, degrees("fastly-geo-lon")?) {
        (lat, lon) if lat == 0.0 && lon == 0.0 => None,
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
