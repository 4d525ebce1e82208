//! One step of a load.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::duration_ns;
use crate::load::Pace;

/// One step of a ladder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Connections.
    pub connections: u32,
    /// How long; in files in ns.
    #[serde(rename = "duration_ns", alias = "duration", with = "duration_ns")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// How sends are paced.
    pub pace: Pace,
    /// Warm-up, recorded as such.
    pub warm_up: bool,
}
