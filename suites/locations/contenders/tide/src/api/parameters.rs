//! What a request may say, and what it must.

use serde::Deserialize;
use tide::http;
use utoipa::IntoParams;

use crate::{
    api::error::ApiError,
    domain::{Coordinates, Language},
};

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct CityQuery {
    /// Who's On First id of a city.
    #[param(example = 101748109)]
    pub(super) id: u64,
    /// The language of names in the answer.
    #[param(inline)]
    pub(super) language: Language,
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct ClosestQuery {
    /// Latitude in degrees; never without `lon`.
    #[param(minimum = -90, maximum = 90)]
    lat: Option<f64>,
    /// Longitude in degrees; never without `lat`.
    #[param(minimum = -180, maximum = 180)]
    lon: Option<f64>,
    /// The language of names in the answer.
    #[param(inline)]
    pub(super) language: Language,
}

impl ClosestQuery {
    pub(super) fn coordinates(&self) -> Result<Option<Coordinates>, ApiError> {
        match (self.lat, self.lon) {
            (Some(lat), Some(lon)) => Ok(Some(Coordinates::new(lat, lon)?)),
            (None, None) => Ok(None),
            (Some(_), None) => Err(ApiError::BadRequest("lat is given without lon".to_owned())),
            (None, Some(_)) => Err(ApiError::BadRequest("lon is given without lat".to_owned())),
        }
    }
}

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase")]
pub(super) struct SearchQuery {
    /// The beginning of a name, or several words of which the last is a beginning.
    #[param(min_length = 1)]
    query: String,
    /// The language of names in the answer, preferred in the search as well.
    #[param(inline)]
    pub(super) language: Language,
    /// ISO 3166-1 alpha-2 code of the country to which the search is limited.
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

#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(super) struct FeaturedQuery {
    /// The language of names in the answer; its own country comes first.
    #[param(inline)]
    pub(super) language: Language,
}

/// Where the content delivery network believes the visitor to be. It sends 0, 0 when it does not
/// know, and nothing it sends is the visitor's fault: whatever is wrong counts as unknown.
pub(super) fn visitor(headers: &impl AsRef<http::Headers>) -> Option<Coordinates> {
    let headers = headers.as_ref();
    let degrees = |name| headers.get(name)?.as_str().trim().parse::<f64>().ok();
    match (degrees("fastly-geo-lat")?, degrees("fastly-geo-lon")?) {
        (0.0, 0.0) => None,
        (lat, lon) => Coordinates::new(lat, lon).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> http::Request {
        http::Request::new(http::Method::Get, "http://localhost/")
    }

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
            let mut request = request();
            request.insert_header("Fastly-Geo-Lat", lat);
            request.insert_header("Fastly-Geo-Lon", lon);
            assert_eq!(visitor(&request), expect, "{lat}, {lon}");
        }
        assert_eq!(visitor(&request()), None);
    }
}
