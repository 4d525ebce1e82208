//! The metrics that contenders count themselves: where a suite finds them, and what is recorded of
//! them. Reading their text is the session's business.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::names;

/// Where contenders report their metrics, and which of them are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnMetrics {
    /// Path and query on the contender's port.
    pub path: String,
    /// Globs of names of metrics; empty = all.
    pub keep: Vec<String>,
}

impl OwnMetrics {
    /// Whether a metric of this name is recorded.
    #[must_use]
    pub fn keeps(&self, name: &str) -> bool {
        let mut globs = self.keep.iter();
        self.keep.is_empty() || globs.any(|glob| names::matches(glob, name))
    }
}

/// The metrics of a contender around a measured step: read before its first slice and after its
/// last one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricsRecord {
    /// Position of the step in the run.
    pub step: usize,
    /// The series by name.
    pub series: Vec<MetricSeries>,
    /// Further series, which are not recorded because there are too many.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: usize,
    /// Why there are no series; absent if there are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// One series: a metric with its labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MetricSeries {
    /// Name and labels, these in the order of their names: `requests_total{method="GET"}`.
    pub name: String,
    /// Values of the series.
    #[serde(flatten)]
    pub values: MetricValues,
}

/// The values of a series, all of them finite.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum MetricValues {
    /// A series that only grows.
    Counter {
        /// Value before the step, 0 if the series was not there yet.
        before: f64,
        /// Value after the step.
        after: f64,
    },
    /// A series that rises and falls.
    Gauge {
        /// Value after the step.
        after: f64,
    },
}

impl MetricSeries {
    /// Returns how much a counter grew; `None` of a gauge, and of a counter that started anew.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        match self.values {
            MetricValues::Counter { before, after } => Some(after - before).filter(|by| *by >= 0.0),
            MetricValues::Gauge { .. } => None,
        }
    }

    /// Returns the last value of a gauge.
    #[must_use]
    pub fn gauge(&self) -> Option<f64> {
        match self.values {
            MetricValues::Counter { .. } => None,
            MetricValues::Gauge { after } => Some(after),
        }
    }
}
