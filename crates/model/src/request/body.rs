//! The body of a request: any bytes, which files write as a text if they are one.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
