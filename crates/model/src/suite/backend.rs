//! Backends of a suite: which ones, how the replay backend responds, and what their databases must
//! have.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::conditions::BackendName;
use super::delay::Delay;

/// A backend that the suite's contenders call.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendSpec {
    /// Which one.
    pub name: BackendName,
    /// Folder of its data or recordings, relative to the suite.
    pub data: Option<String>,
    /// How the replay backend responds.
    pub settings: ReplaySettings,
    /// Rows that must be in a contender's database after a run.
    pub rows: Vec<Rows>,
}

/// How the replay backend responds; nothing of it is said of others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ReplaySettings {
    /// How long it holds its responses back.
    #[serde(
        rename = "backend_delay",
        default,
        skip_serializing_if = "Delay::is_none"
    )]
    #[schemars(with = "String")]
    pub delay: Delay,
    /// Whether it compresses responses for clients that accept gzip.
    #[serde(rename = "backend_gzip", default, skip_serializing_if = "is_false")]
    pub gzip: bool,
    /// Requests that it works on at a time; further ones get a 429.
    #[serde(
        rename = "backend_queue",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub queue: Option<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl ReplaySettings {
    /// Options by which responses are late, altered or refused: `delay exponential:2ms, gzip, queue
    /// 1000`; empty if there are none.
    #[must_use]
    pub fn describe(&self) -> String {
        let delay = (!self.delay.is_none()).then(|| format!("delay {}", self.delay));
        let gzip = self.gzip.then(|| "gzip".to_owned());
        let queue = self.queue.map(|queue| format!("queue {queue}"));
        let all: Vec<String> = [delay, gzip, queue].into_iter().flatten().collect();
        all.join(", ")
    }
}

/// Each successful request of this name adds one to what a query finds in the contender's database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rows {
    /// Name of the request, [`crate::load::RequestSpec::label`].
    pub request: String,
    /// A query whose result is one whole number.
    pub query: String,
}
