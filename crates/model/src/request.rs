//! One request as data, and its body: any bytes, which files write as a text if they are one, so
//! that people and older orders see nothing else. How often and when it is sent is the order's
//! business ([`crate::load`]).

pub mod check;
pub mod grpc;
pub mod scenario;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use check::Expect;
use scenario::{Extract, Pause};

/// One request as data. In a scenario, `${name}` in its path, headers and body is the value of a
/// variable.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RequestSpec {
    /// The name in records and reports [default: method and path].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The method, upper case.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers besides `Content-Length`, in order; `Host` is that of the target unless given.
    #[serde(default)]
    pub headers: Vec<(String, String)>,
    /// The body.
    #[serde(default)]
    pub body: Body,
    /// The expected response. The status is checked on every response, the rest on the sampled
    /// share; without an expectation 2xx and 3xx are right.
    #[serde(default)]
    pub expect: Option<Expect>,
    /// The body of every right response is as long as that of the first, which is checked
    /// completely.
    #[serde(default, skip_serializing_if = "is_false")]
    pub same_length: bool,
    /// The response is a stream of server-sent events, and complete with this many; without a
    /// number it is read to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub events: Option<NonZeroU32>,
    /// How often this request is sent relative to the others.
    #[serde(default = "one")]
    pub weight: u32,
    /// How long a user waits after the response; scenarios only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pause: Option<Pause>,
    /// Variables that get their values from the response; scenarios only.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub extract: BTreeMap<String, Extract>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(value: &bool) -> bool {
    !value
}

impl RequestSpec {
    /// Whether it has a header of this name.
    #[must_use]
    pub fn has_header(&self, name: &str) -> bool {
        let mut headers = self.headers.iter();
        headers.any(|(header, _)| header.eq_ignore_ascii_case(name))
    }

    /// Returns the name in records and reports.
    #[must_use]
    pub fn label(&self) -> String {
        self.name
            .clone()
            .unwrap_or_else(|| format!("{} {}", self.method, self.path))
    }
}

/// The body of a request, of UTF-8 or not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Written")]
pub struct Body(Vec<u8>);

/// A body in a file.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(untagged, deny_unknown_fields)]
enum Written {
    /// The body as it is.
    Text(String),
    /// A body that is not UTF-8.
    Binary {
        /// Bytes of the body (RFC 4648, 4).
        base64: String,
    },
}

impl Body {
    /// The bytes that are sent.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The body as a text; `None` when it is not UTF-8.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Whether nothing is sent.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T: Into<Vec<u8>>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self(bytes.into())
    }
}

impl TryFrom<Written> for Body {
    type Error = base64::DecodeError;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        match written {
            Written::Text(text) => Ok(Self(text.into_bytes())),
            Written::Binary { base64 } => STANDARD.decode(base64).map(Self),
        }
    }
}

impl From<Body> for Written {
    fn from(body: Body) -> Self {
        match String::from_utf8(body.0) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Binary {
                base64: STANDARD.encode(error.as_bytes()),
            },
        }
    }
}

/// Returns the default of most counts.
pub(crate) fn one() -> u32 {
    1
}

#[cfg(test)]
mod tests {
    use super::Body;

    #[test]
    fn bodies_are_texts_where_they_can_be() {
        let check = |bytes: &[u8], json: &str| {
            let body = Body::from(bytes);
            assert_eq!(serde_json::to_string(&body).unwrap(), json);
            assert_eq!(serde_json::from_str::<Body>(json).unwrap(), body);
        };
        check(b"", r#""""#);
        check("Plzeň".as_bytes(), r#""Plzeň""#);
        check(b"\xff\x00", r#"{"base64":"/wA="}"#);
        for wrong in [r#"{"base64":"*"}"#, r#"{"base64":"","more":1}"#, "3"] {
            assert!(serde_json::from_str::<Body>(wrong).is_err(), "{wrong}");
        }
    }
}
