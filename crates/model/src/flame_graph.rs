//! Where contenders spend their CPU time, as far as that was sampled.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::layers::LayerSamples;

/// Where a contender spends its CPU time, by samples of its stacks in a run that is not measured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FlameGraph {
    /// The benchmark.
    pub benchmark: String,
    /// The contender.
    pub contender: String,
    /// Values of the contender's matrix.
    pub parameters: BTreeMap<String, String>,
    /// Connections of the step in which the samples were taken.
    pub connections: u32,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: FlameOutcome,
}

/// What came of a flame graph.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum FlameOutcome {
    /// It was drawn.
    Drawn {
        /// The SVG, relative to the results folder.
        file: String,
        /// What took the samples.
        sampler: String,
        /// How many there are.
        samples: u64,
        /// Those of each part of the service, most first; empty in results of before 2026-11-26.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        layers: Vec<LayerSamples>,
    },
    /// There is none.
    Failed {
        /// Why, a sentence.
        why: String,
    },
}
