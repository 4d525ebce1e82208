//! Functional checks as data, and their evaluation against a response. Pure: fetching it
//! is the caller's business.

use std::collections::BTreeMap;

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::Body;
use super::grpc;
use crate::text::json_path::{self, JsonPath};
use crate::text::pattern::Pattern;

/// One functional check: a request and what must come back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The group, selectable with `--group`.
    pub group: String,
    /// The behaviour that the check shows, unique in its group.
    pub name: String,
    /// The method, upper case.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Request headers.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: Body,
    /// The expected response.
    pub expect: Expect,
}

/// The requirements on a response. Every field that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Expect {
    /// Allowed statuses; empty = any 2xx or 3xx.
    pub status: Vec<u16>,
    /// Allowed statuses of a call of gRPC; empty = 0, success.
    pub grpc_status: Vec<u16>,
    /// Headers by lower-case name; the value must begin with the given text.
    pub headers: BTreeMap<String, String>,
    /// The body must be JSON.
    pub json: bool,
    /// Object at a JSON path -> exactly these keys, in any order.
    pub keys: BTreeMap<String, Vec<String>>,
    /// JSON paths that must exist.
    pub has: Vec<String>,
    /// JSON path -> value.
    pub values: BTreeMap<String, serde_json::Value>,
    /// JSON path -> the text that the text there begins with.
    pub begins: BTreeMap<String, String>,
    /// JSON path with one `[*]` -> the values in this very order, no more, no fewer.
    pub lists: BTreeMap<String, Vec<serde_json::Value>>,
    /// The body contains this text.
    pub contains: Option<String>,
    /// The body matches this regular expression somewhere.
    pub matches: Option<Pattern>,
    /// The body is exactly this text.
    pub body: Option<String>,
    /// The body has this many bytes.
    pub body_bytes: Option<u64>,
    /// At least one of these holds; empty = nothing is asked. For responses of several right kinds.
    pub any_of: Vec<Expect>,
}

/// A response as it was received.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReceivedResponse {
    /// The status.
    pub status: u16,
    /// The status of a call of gRPC; `None` in plain HTTP.
    pub grpc_status: Option<u16>,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// The outcome of a check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum CheckOutcome {
    /// Everything held.
    Good,
    /// The first thing that did not hold.
    Bad {
        /// The failing assertion: expected and found.
        assertion: String,
    },
    /// No response.
    ConnErr {
        /// Why.
        message: String,
    },
    /// The check does not apply here, and why.
    NotApplicable {
        /// Why.
        reason: String,
    },
}

impl Expect {
    /// How many facts about a response it compares, its status aside.
    #[must_use]
    pub fn comparisons(&self) -> usize {
        let texts = [
            self.body.is_some(),
            self.contains.is_some(),
            self.matches.is_some(),
        ];
        let lists: usize = self.lists.values().map(|values| 1 + values.len()).sum();
        let keys: usize = self.keys.values().map(|keys| 1 + keys.len()).sum();
        let bodies = usize::from(self.body_bytes.is_some());
        let texts = texts.into_iter().filter(|given| *given).count();
        self.headers.len()
            + self.has.len()
            + self.values.len()
            + self.begins.len()
            + lists
            + keys
            + bodies
            + texts
    }

    /// Checks the response against every expectation, cheapest first.
    ///
    /// # Errors
    /// The first assertion that does not hold: what was expected and what was found.
    pub fn evaluate(&self, answer: &ReceivedResponse) -> Result<(), Problem> {
        self.evaluate_head(answer)?;
        self.evaluate_bytes(answer)?;
        self.evaluate_alternatives(answer)?;
        let has_paths = !(self.keys.is_empty()
            && self.has.is_empty()
            && self.values.is_empty()
            && self.begins.is_empty()
            && self.lists.is_empty());
        if !self.json && !has_paths {
            return Ok(());
        }
        let root: Value = serde_json::from_slice(&answer.body)
            .map_err(|error| format!("the body is not JSON ({error}): {}", shown(&answer.body)))?;
        self.evaluate_json(&root)
    }

    fn evaluate_alternatives(&self, answer: &ReceivedResponse) -> Result<(), Problem> {
        let mut failed = Vec::new();
        for alternative in &self.any_of {
            match alternative.evaluate(answer) {
                Ok(()) => return Ok(()),
                Err(assertion) => failed.push(assertion.to_string()),
            }
        }
        if failed.is_empty() {
            return Ok(());
        }
        Err(format!("no alternative holds: {}", failed.join("; or: ")).into())
    }

    fn evaluate_head(&self, answer: &ReceivedResponse) -> Result<(), Problem> {
        let status = answer.status;
        let allowed = match self.status.as_slice() {
            [] => (200..400).contains(&status),
            list => list.contains(&status),
        };
        if !allowed {
            let expected = match self.status.as_slice() {
                [] => "2xx or 3xx".to_owned(),
                list => list
                    .iter()
                    .map(u16::to_string)
                    .collect::<Vec<_>>()
                    .join(" or "),
            };
            let body = shown(&answer.body);
            return Err(format!("status: expected {expected}, found {status} with {body}").into());
        }
        self.evaluate_call(answer)?;
        for (name, expected) in &self.headers {
            let found = answer
                .headers
                .iter()
                .find(|(found, _)| found.eq_ignore_ascii_case(name));
            match found {
                None => {
                    return Err(format!("header {name}: expected {expected:?}, found none").into());
                }
                Some((_, value)) if !value.starts_with(expected.as_str()) => {
                    return Err(
                        format!("header {name}: expected {expected:?}, found {value:?}").into(),
                    );
                }
                Some(_) => {}
            }
        }
        Ok(())
    }

    fn evaluate_call(&self, answer: &ReceivedResponse) -> Result<(), Problem> {
        let Some(found) = answer.grpc_status else {
            return Ok(());
        };
        if grpc::allows(&self.grpc_status, found) {
            return Ok(());
        }
        let expected: Vec<String> = match self.grpc_status.as_slice() {
            [] => vec![grpc::status_text(grpc::OK)],
            list => list.iter().map(|one| grpc::status_text(*one)).collect(),
        };
        let message = grpc::message(&answer.headers);
        let message = message.map(|text| format!(" with {text:?}"));
        Err(format!(
            "gRPC status: expected {}, found {}{}",
            expected.join(" or "),
            grpc::status_text(found),
            message.unwrap_or_default()
        )
        .into())
    }

    fn evaluate_bytes(&self, answer: &ReceivedResponse) -> Result<(), Problem> {
        let length = answer.body.len() as u64;
        if let Some(expected) = self.body_bytes.filter(|expected| *expected != length) {
            return Err(format!("body: expected {expected} bytes, found {length}").into());
        }
        if let Some(expected) = self
            .body
            .as_ref()
            .filter(|body| body.as_bytes() != answer.body)
        {
            return Err(
                format!("body: expected {expected:?}, found {}", shown(&answer.body)).into(),
            );
        }
        let text = String::from_utf8_lossy(&answer.body);
        match (&self.contains, &self.matches) {
            (Some(part), _) if !text.contains(part.as_str()) => {
                Err(format!("body: {part:?} is not in {}", shown(&answer.body)).into())
            }
            (_, Some(pattern)) if !pattern.is_match(&text) => {
                Err(format!("body: {pattern} does not match {}", shown(&answer.body)).into())
            }
            _ => Ok(()),
        }
    }

    fn evaluate_json(&self, root: &Value) -> Result<(), Problem> {
        for (path, keys) in &self.keys {
            evaluate_keys(root, path, keys)?;
        }
        for path in &self.has {
            one(root, path)?;
        }
        for (path, expected) in &self.values {
            let found = one(root, path)?;
            if !equal(found, expected) {
                return Err(format!("{path}: expected {expected}, found {found}").into());
            }
        }
        for (path, expected) in &self.begins {
            let found = one(root, path)?;
            if !found
                .as_str()
                .is_some_and(|text| text.starts_with(expected))
            {
                return Err(format!("{path}: expected {expected:?}…, found {found}").into());
            }
        }
        for (path, expected) in &self.lists {
            evaluate_list(root, path, expected)?;
        }
        Ok(())
    }
}

/// The one value at a path.
fn one<'a>(root: &'a Value, path: &str) -> Result<&'a Value, Problem> {
    path.parse::<JsonPath>()?.find(root)
}

fn evaluate_keys(root: &Value, path: &str, expected: &[String]) -> Result<(), Problem> {
    let value = one(root, path)?;
    let Some(object) = value.as_object() else {
        return Err(format!(
            "{path}: expected an object, found {}",
            json_path::kind(value)
        )
        .into());
    };
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    let missing = expected
        .iter()
        .copied()
        .filter(|key| !object.contains_key(*key));
    let unexpected = object
        .keys()
        .map(String::as_str)
        .filter(|key| !expected.contains(key));
    let differences = [
        ("missing", missing.collect()),
        ("unexpected", unexpected.collect()),
    ];
    let parts: Vec<String> = differences
        .into_iter()
        .filter(|(_, keys): &(_, Vec<&str>)| !keys.is_empty())
        .map(|(what, keys)| format!("{what} {}", keys.join(", ")))
        .collect();
    if parts.is_empty() {
        return Ok(());
    }
    Err(format!("keys of {path}: {}", parts.join(", ")).into())
}

fn evaluate_list(root: &Value, path: &str, expected: &[Value]) -> Result<(), Problem> {
    let found = path.parse::<JsonPath>()?.find_each(root)?;
    let same = expected
        .iter()
        .zip(&found)
        .take_while(|(expected, found)| equal(found, expected));
    let differs_at = same.count();
    let lengths = format!("{} expected, {} found", expected.len(), found.len());
    match (expected.get(differs_at), found.get(differs_at)) {
        (None, None) => Ok(()),
        (Some(expected), Some(found)) => {
            Err(format!("{path}: at index {differs_at}: expected {expected}, found {found}").into())
        }
        (Some(expected), None) => Err(format!(
            "{path}: at index {differs_at}: expected {expected}, found none ({lengths})"
        )
        .into()),
        (None, Some(found)) => Err(format!(
            "{path}: at index {differs_at}: expected none, found {found} ({lengths})"
        )
        .into()),
    }
}

/// Equal as JSON: numbers by value, so that 1 and 1.0 are the same, objects in any order of keys.
fn equal(found: &Value, expected: &Value) -> bool {
    match (found, expected) {
        (Value::Number(left), Value::Number(right)) => {
            // Whole numbers beyond 2^53 must not be compared as floats.
            left == right || (left.is_f64() != right.is_f64() && left.as_f64() == right.as_f64())
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| equal(l, r))
        }
        (Value::Object(left), Value::Object(right)) => {
            let same = |(key, value)| right.get(key).is_some_and(|other| equal(value, other));
            left.len() == right.len() && left.iter().all(same)
        }
        _ => found == expected,
    }
}

/// The start of a body for a message.
fn shown(body: &[u8]) -> String {
    const SHOWN_CHARS: usize = 120;
    if body.is_empty() {
        return "an empty body".to_owned();
    }
    let text = String::from_utf8_lossy(body);
    let mut shown: String = text.chars().take(SHOWN_CHARS).collect();
    if text.chars().count() > SHOWN_CHARS {
        shown.push('…');
    }
    format!("{shown:?}")
}
