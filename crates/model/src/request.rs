//! One request as data, and its body: any bytes, which files write as a text if they are one, so
//! that people and older orders see nothing else. How often and when it is sent is the order's
//! business ([`crate::load`]).

mod body;
pub mod check;
pub mod grpc;
pub mod scenario;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use body::Body;
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

/// Returns the default of most counts.
pub(crate) fn one() -> u32 {
    1
}
