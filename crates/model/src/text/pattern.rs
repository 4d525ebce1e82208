//! Regular expressions of suite files.

use std::fmt;

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A regular expression, known to be one.
#[derive(Debug, Clone)]
pub struct Pattern(regex::Regex);

impl Pattern {
    /// Reads a regular expression.
    ///
    /// # Errors
    /// A lower-case fragment that says what is wrong with it.
    pub fn new(text: &str) -> Result<Self, Problem> {
        regex::Regex::new(text).map(Self).map_err(|error| {
            let words = error.to_string();
            let last = words.lines().last().unwrap_or_default();
            let what = last.trim_start_matches("error: ").trim();
            format!("bad pattern {text:?}: {what}").into()
        })
    }

    /// Whether it matches somewhere in `text`.
    #[must_use]
    pub fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }

    /// Returns the match of its first group, or all of the first match when it has no group.
    pub(crate) fn first<'t>(&self, text: &'t str) -> Option<&'t str> {
        let found = self.0.captures(text)?;
        let group = found.get(1).or_else(|| found.get(0))?;
        Some(group.as_str())
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.0.as_str() == other.0.as_str()
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "/{}/", self.0.as_str())
    }
}

impl Serialize for Pattern {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.as_str())
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "format": "regex",
            "description": "A regular expression in the syntax of the Rust crate regex.",
            "x-text": "regex"
        })
    }
}
