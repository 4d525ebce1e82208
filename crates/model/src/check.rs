//! Functional checks as data, and their evaluation against an answer. Pure: fetching the answer
//! is the caller's business.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One functional check: a request and what must come back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The group, selectable with `--group`.
    pub group: String,
    /// What the check shows, unique in its group.
    pub name: String,
    /// The method, upper case.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Request headers.
    pub headers: Vec<(String, String)>,
    /// Request body.
    pub body: String,
    /// What must come back.
    pub expect: Expect,
}

/// What an answer must be. Every field that is given must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", default, deny_unknown_fields)]
pub struct Expect {
    /// Allowed statuses; empty = any 2xx or 3xx.
    pub status: Vec<u16>,
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
    /// JSON path with one `[*]` -> the values in this very order, no more, no fewer.
    pub lists: BTreeMap<String, Vec<serde_json::Value>>,
    /// The body contains this text.
    pub contains: Option<String>,
    /// The body is exactly this text.
    pub body: Option<String>,
    /// The body has this many bytes.
    pub body_bytes: Option<u64>,
}

/// An answer as it came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// Headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
}

/// What came of a check.
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
    /// No answer.
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
