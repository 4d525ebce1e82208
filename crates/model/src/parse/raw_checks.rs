//! A file of `checks/` as people write it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::raw::{get, one};
use crate::request::check::Expect;

/// A file of `checks/`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct ChecksFile {
    /// Named expectations, to be taken with `like` in any file of `checks/`.
    #[serde(default)]
    pub(crate) expect: BTreeMap<String, Expect>,
    /// The checks, in order.
    #[serde(default)]
    pub(crate) check: Vec<CheckTable>,
}

/// One functional check.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct CheckTable {
    /// The group, selectable with `--group`.
    #[schemars(extend("x-text" = "name"))]
    pub(crate) group: String,
    /// The behaviour that the check shows, unique in its group.
    #[schemars(length(min = 1))]
    pub(crate) name: String,
    /// The method; `GET` unless given.
    #[serde(default = "get")]
    #[schemars(extend("x-text" = "method"))]
    pub(crate) method: String,
    /// Path and query.
    #[schemars(extend("x-text" = "path"))]
    pub(crate) path: String,
    /// Headers besides `Host` and `Content-Length`.
    #[serde(default)]
    pub(crate) headers: BTreeMap<String, String>,
    /// The body.
    #[serde(default)]
    pub(crate) body: String,
    /// How many times the body text is repeated, for large bodies; 1 unless given.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub(crate) body_repeat: u32,
    /// The expected response.
    pub(crate) expect: CheckExpect,
}

/// The expected response, perhaps building on a named expectation.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(extend("additionalProperties" = false))]
pub(crate) struct CheckExpect {
    /// The named expectation to which the other fields add.
    pub(crate) like: Option<String>,
    /// The check's own fields.
    #[serde(flatten)]
    pub(crate) own: Expect,
}
