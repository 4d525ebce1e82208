//! What sizing reports.

use std::path::PathBuf;

use bakeoff_analysis::WithInterval;
use schemars::JsonSchema;
use serde::Serialize;

/// The shapes of a service and the cheapest of them.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Sizing {
    /// The service.
    pub service: String,
    /// Requests per second of all replicas together.
    pub rate_per_s: f64,
    /// The objective: `p99 <= 50ms and errors <= 0.1%`.
    pub slo: String,
    /// The conclusion, one or more sentences.
    pub sentence: String,
    /// The CPU limit of the cheapest shape; absent if none meets the objective.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cheapest_cpus: Option<f64>,
    /// How much memory the service needs.
    pub memory: MemoryNeed,
    /// The shapes that were measured, smallest first.
    pub shapes: Vec<Shape>,
    /// Why other shapes were not, a sentence each.
    pub not_measured: Vec<String>,
    /// How long the search took, s.
    pub took_s: f64,
    /// The folder of results.
    pub results: PathBuf,
}

/// The memory that a service needs under load.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct MemoryNeed {
    /// The limit with which the last shape was measured: some more than it lived with, bytes.
    pub limit_bytes: u64,
    /// The smallest limit with which it served every request of a few seconds, bytes.
    pub lived_bytes: u64,
    /// The largest limit with which it did not serve them, bytes; absent if it lived with every
    /// limit that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub died_bytes: Option<u64>,
    /// The largest limit with which a process of a shape was killed for memory, bytes; absent if
    /// none was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outgrown_bytes: Option<u64>,
    /// Highest use of memory under the first limit, bytes; absent if it is not metered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
}

/// A CPU limit and what the service sustains with it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Shape {
    /// The CPU limit, cores.
    pub cpus: f64,
    /// The memory limit, bytes.
    pub memory_bytes: u64,
    /// Requests per second of one replica that meets the objective; absent if none does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity_per_s: Option<WithInterval>,
    /// Requests per second that each of the processes met, if the capacity was not found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_least_per_s: Option<f64>,
    /// Fresh processes that held what the one before them had found, of those that tried.
    pub confirmed: [usize; 2],
    /// Replicas for the whole rate, by the lower end of the interval or what each process met.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<u64>,
    /// Price of all replicas for a month, dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dollars_per_month: Option<f64>,
    /// The share of time for which the CPU limit held it back, near its capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throttled: Option<f64>,
    /// From start to the first response, median, s.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_s: Option<f64>,
    /// CPU per request near the capacity, us.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<f64>,
    /// Why the shape has no capacity.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<String>,
    /// The results folder of the shape's session.
    pub results: PathBuf,
}
