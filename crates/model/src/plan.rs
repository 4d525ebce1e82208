//! What will be run, in which order, and how long it will take.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::suite::{Limits, Step};

/// All runs of a session in the order in which they will be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// The suite.
    pub suite: String,
    /// Digest of the suite definition.
    pub suite_digest: String,
    /// The profile.
    pub profile: String,
    /// The runtime: `process`, `docker` or `external`.
    pub runtime: String,
    /// The backend.
    pub backend: String,
    /// Seed of the order.
    pub seed: u64,
    /// The runs.
    pub runs: Vec<PlannedRun>,
}

/// One start-to-stop of a contender, the unit of replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedRun {
    /// Unique in the plan, usable as a file name: `city-get.http4k-3_undertow.r2`.
    pub id: String,
    /// Position in the order, from 0.
    pub order: usize,
    /// Repetition, from 1.
    pub repetition: u32,
    /// The benchmark.
    pub benchmark: String,
    /// The contender.
    pub contender: String,
    /// Chosen values of the contender's matrix.
    pub parameters: BTreeMap<String, String>,
    /// Limits of the contender.
    pub limits: Limits,
    /// Steps of the load.
    pub steps: Vec<Step>,
    /// Whether the slow lifecycle checks belong to this run.
    pub lifecycle: bool,
    /// Expected duration, without builds.
    pub expected: Duration,
}

impl PlannedRun {
    /// Contender and parameters as one label: `rocket-0.4[workers=16]`.
    #[must_use]
    pub fn case_label(&self) -> String {
        case_label(&self.contender, &self.parameters)
    }
}

/// Contender and parameters as one label: `rocket-0.4[workers=16]`.
#[must_use]
pub fn case_label(contender: &str, parameters: &BTreeMap<String, String>) -> String {
    if parameters.is_empty() {
        return contender.to_owned();
    }
    let list: Vec<String> = parameters
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{contender}[{}]", list.join(","))
}
