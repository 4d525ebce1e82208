//! Headers and bodies of requests as files write them: forms in which the usual case is short.

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

/// Headers in order, each with a value or with a list of values: `x-tag = ["a", "b"]` is sent as
/// two headers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HeadersTable(Vec<(String, Vec<String>)>);

impl HeadersTable {
    /// Returns each header with one value, as it is sent.
    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.0.iter();
        names.flat_map(|(name, values)| values.iter().map(|value| (name.as_str(), value.as_str())))
    }
}

/// Repeats come together at the first of them: between headers of different names, the order says
/// nothing (RFC 9110, 5.3).
impl<'a> FromIterator<&'a (String, String)> for HeadersTable {
    fn from_iter<T: IntoIterator<Item = &'a (String, String)>>(pairs: T) -> Self {
        let mut all: Vec<(String, Vec<String>)> = Vec::new();
        for (name, value) in pairs {
            match all.iter_mut().find(|(one, _)| one == name) {
                Some((_, values)) => values.push(value.clone()),
                None => all.push((name.clone(), vec![value.clone()])),
            }
        }
        Self(all)
    }
}

/// One value or several.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum HeaderValues {
    One(String),
    Several(Vec<String>),
}

impl Serialize for HeadersTable {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, values) in &self.0 {
            match values.as_slice() {
                [only] => map.serialize_entry(name, only)?,
                values => map.serialize_entry(name, values)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for HeadersTable {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Headers;
        impl<'de> Visitor<'de> for Headers {
            type Value = HeadersTable;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a table of headers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<HeadersTable, A::Error> {
                let mut all = Vec::new();
                while let Some((name, values)) = map.next_entry::<String, HeaderValues>()? {
                    all.push((
                        name,
                        match values {
                            HeaderValues::One(value) => vec![value],
                            HeaderValues::Several(values) => values,
                        },
                    ));
                }
                Ok(HeadersTable(all))
            }
        }
        deserializer.deserialize_map(Headers)
    }
}

/// One schema of both forms, because that is what [`super::shape`] can speak of.
impl JsonSchema for HeadersTable {
    fn schema_name() -> Cow<'static, str> {
        "Headers".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let value = json!({
            "description": "The value, or a list of values of a header that is repeated.",
            "type": ["string", "array"],
            "items": { "type": "string" },
        });
        let schema = json!({ "type": "object", "additionalProperties": value });
        schema.try_into().unwrap_or_default()
    }
}

/// A body: a text, or bytes that are none.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BodyValue {
    /// The text.
    Text(String),
    /// Any bytes.
    Bytes {
        /// The bytes in base64 (RFC 4648, 4).
        base64: String,
    },
}

impl BodyValue {
    /// Returns the bytes; `None` if their base64 is wrong.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Bytes { base64 } => STANDARD.decode(base64).ok(),
        }
    }
}

impl Default for BodyValue {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&[u8]> for BodyValue {
    fn from(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Bytes {
                base64: STANDARD.encode(bytes),
            },
        }
    }
}

/// One schema of both forms, as for [`HeadersTable`].
impl JsonSchema for BodyValue {
    fn schema_name() -> Cow<'static, str> {
        "Body".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let base64 = json!({
            "description": "Bytes of the body, in base64 (RFC 4648, 4).",
            "type": "string",
        });
        let schema = json!({
            "type": ["string", "object"],
            "properties": { "base64": base64 },
            "required": ["base64"],
            "additionalProperties": false,
        });
        schema.try_into().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{BodyValue, HeadersTable};

    #[test]
    fn headers_are_read_as_they_are_written() {
        let pairs = [("X-b", "1"), ("a", "2"), ("X-b", "3"), ("x-b", "4")];
        let pairs = pairs.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let table: HeadersTable = pairs.iter().collect();
        let value = serde_json::to_value(&table).unwrap();
        assert_eq!(value, json!({ "X-b": ["1", "3"], "a": "2", "x-b": "4" }));
        let read: HeadersTable = serde_json::from_value(value).unwrap();
        assert_eq!(read, table);
        let sent: Vec<(&str, &str)> = read.pairs().collect();
        assert_eq!(sent, [("X-b", "1"), ("X-b", "3"), ("a", "2"), ("x-b", "4")]);
    }

    #[test]
    fn bodies_are_texts_where_they_can_be() {
        for (bytes, expect) in [
            (&b"a"[..], json!("a")),
            (b"\xff\x00", json!({ "base64": "/wA=" })),
        ] {
            let value = BodyValue::from(bytes);
            assert_eq!(serde_json::to_value(&value).unwrap(), expect);
            assert_eq!(value.bytes().as_deref(), Some(bytes));
        }
        let wrong = BodyValue::Bytes {
            base64: "*".to_owned(),
        };
        assert_eq!(wrong.bytes(), None);
    }
}
