//! Reports of a load that several load generators, a fleet, made together, beyond what one
//! would have said: which of them was lost, what each of them did, and when it started.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Connections, CpuTime};

/// A load generator that delivered nothing for a slice, because it was lost before its end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LostGenerator {
    /// Which part of the load it was to make, from 0.
    pub part: u32,
    /// Name of the load generator.
    pub name: String,
    /// Why it is lost, a lower-case fragment.
    pub why: String,
    /// Connections of the step that are in its part.
    pub connections: u32,
}

/// How far the wall clock of a machine is ahead of the session's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ClockOffset {
    /// How far it is ahead, ns; negative = behind.
    pub ahead_ns: i64,
    /// How far off that may be at most, ns.
    pub error_ns: u64,
}

/// The report of a fleet at the end of a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetReceipt {
    /// Time between the first and the last start of the step among load generators with
    /// connections, ns; absent if fewer than two said when they started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_skew_ns: Option<u64>,
    /// Each load generator, by its part.
    pub parts: Vec<PartReceipt>,
}

/// The receipt of a fleet, as it is recorded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FleetRecord {
    /// The step, as in its slices.
    pub step: usize,
    /// The receipt of each load generator.
    #[serde(flatten)]
    pub receipt: FleetReceipt,
}

/// The report of one load generator of a fleet on a step.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PartReceipt {
    /// Which part of the load it made, from 0.
    pub part: u32,
    /// Name of the load generator.
    pub name: String,
    /// Connections of the load generator when the step started; those of the whole step are the
    /// sum.
    pub connections: Connections,
    /// Slices that it delivered.
    pub slices: u32,
    /// Successful requests.
    pub requests: u64,
    /// Failed requests of all classes.
    pub failed: u64,
    /// CPU time of the load generator.
    pub generator_cpu: CpuTime,
    /// When it started, relative to the instant that all were given, ns, by the session's clock;
    /// absent if it was given none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_after_ns: Option<i64>,
    /// Clock of the load generator's machine; absent if it is the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<ClockOffset>,
    /// Why it was lost in this step or before, a lower-case fragment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
}
