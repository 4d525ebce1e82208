//! A file of `checks/` as people write it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::raw::{get, one};
use super::raw_request::{BodyValue, HeadersTable};
use crate::request::check::Expect;

/// A file of `checks/`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChecksFile {
    /// Named expectations, to be taken with `like` in any file of `checks/`.
    #[serde(default)]
    pub expect: BTreeMap<String, Expect>,
    /// The checks, in order.
    #[serde(default)]
    pub check: Vec<CheckTable>,
}

/// One functional check.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CheckTable {
    /// The group, selectable with `--group`.
    #[schemars(extend("x-text" = "name"))]
    pub group: String,
    /// The behaviour that the check shows, unique in its group.
    #[schemars(length(min = 1))]
    pub name: String,
    /// The method; `GET` unless given.
    #[serde(default = "get")]
    #[schemars(extend("x-text" = "method"))]
    pub method: String,
    /// Path and query.
    #[schemars(extend("x-text" = "path"))]
    pub path: String,
    /// Headers besides `Content-Length`, in order; `Host` is the service's address unless given.
    #[serde(default)]
    pub headers: HeadersTable,
    /// The body: a text, or a table with bytes in base64.
    #[serde(default)]
    pub body: BodyValue,
    /// How many times the body is repeated, for large bodies; 1 unless given.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub body_repeat: u32,
    /// The expected response.
    pub expect: CheckExpect,
}

/// The expected response, perhaps building on a named expectation.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("additionalProperties" = false))]
pub struct CheckExpect {
    /// The named expectation to which the other fields add.
    pub like: Option<String>,
    /// The check's own fields.
    #[serde(flatten)]
    pub own: Expect,
}
