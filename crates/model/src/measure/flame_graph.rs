//! The CPU time of contenders by function, as far as that was sampled.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::layers::NamedSamples;
use crate::plan::Parameters;

/// Where a contender spends its CPU time, by samples of its stacks in a run that is not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlameGraph {
    /// The benchmark.
    pub benchmark: String,
    /// The contender.
    pub contender: String,
    /// Values of the contender's matrix, and of the profile's CPU quotas.
    #[schemars(with = "BTreeMap<String, String>")]
    pub parameters: Parameters,
    /// Connections of the step in which the samples were taken.
    pub connections: u32,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: FlameOutcome,
}

/// A flame graph in which functions that take more of the CPU time than in another contender are
/// red, and those that take less are blue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlameDifference {
    /// The label of the other contender.
    pub from: String,
    /// The SVG, relative to the results folder.
    pub file: String,
}

/// The outcome of a flame graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FlameOutcome {
    /// A flame graph was drawn.
    Drawn {
        /// The SVG, relative to the results folder.
        file: String,
        /// The program that took the samples.
        sampler: String,
        /// Number of samples.
        samples: u64,
        /// Samples of each part of the service, most first.
        layers: Vec<NamedSamples>,
        /// Samples of the functions that were themselves at work, most first.
        functions: Vec<NamedSamples>,
        /// Samples of the functions that were at work or had called one that was, most first,
        /// without functions of the kernel, runtimes and standard libraries.
        inclusive: Vec<NamedSamples>,
        /// Samples of the functions that a change touches, with all that they call, by its places
        /// in the sources: `src/price.rs:41-48 (total)`.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        changes: Vec<NamedSamples>,
        /// How its stacks differ from those of another contender.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        difference: Option<FlameDifference>,
    },
    /// No flame graph was drawn.
    Failed {
        /// Why, a sentence.
        why: String,
    },
}
