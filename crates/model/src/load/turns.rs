//! Turns: one load generator loads several targets, its sides, one at a time for some tens of
//! milliseconds, over connections that stay open.

use std::path::PathBuf;
use std::time::Duration;

use bakeoff_base::number::as_f64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LoadInterval, LoadSpec};
use crate::text::duration_ns;

/// How the sides of a step take turns: in blocks of one turn of each side, in an order that is
/// drawn for each block. A turn is closed load for its length; then the requests in flight are
/// awaited, and both their number and the time that they take belong to the turn.
///
/// The length of the turns follows the sides: ten times as long as the slowest of them takes to
/// complete what is in flight, within these bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Turns {
    /// The shortest turn, ns.
    pub shortest_ns: u64,
    /// The longest turn, ns.
    pub longest_ns: u64,
}

impl Turns {
    /// The shortest turn, unless something calls for another one, ns.
    pub const SHORTEST_NS: u64 = 20_000_000;
    /// How long a turn may become in a short step, ns.
    pub const LONGEST_NS: u64 = 500_000_000;
    /// How many of the longest turns of each side a longer step has room for.
    pub const EACH_MIN: u32 = 10;
    /// The shortest turn of targets that a CPU quota holds, ns: five of its periods of 100 ms. A
    /// target that idles between shorter turns would start each of them with a full budget.
    pub const SHORTEST_NS_UNDER_QUOTA: u64 = 500_000_000;

    /// Returns how long a turn may become in a step that loads each side for this long, ns.
    #[must_use]
    pub fn longest_ns(each: Duration) -> u64 {
        duration_ns::whole(each / Self::EACH_MIN).max(Self::LONGEST_NS)
    }
}

/// Where the CPU time of a target's processes can be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CpuCounter {
    /// A file of a control group: `cpuacct.usage`, which holds nanoseconds, or `cpu.stat`, whose
    /// `usage_usec` holds microseconds.
    File(PathBuf),
    /// The CPU clocks of these processes.
    Processes(Vec<u32>),
}

/// One turn of a side, in a file an array of eight numbers in this order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "[u64; 8]", into = "[u64; 8]")]
#[schemars(with = "[u64; 8]")]
pub struct TurnCount {
    /// The block that it belongs to, counted over the step from 0.
    pub block: u64,
    /// When it started, us after the start of its slice.
    pub start_us: u64,
    /// Length of the turn, us: until nothing was in flight any more.
    pub length_us: u64,
    /// End of the turn, in which no request was sent and those in flight were awaited, us.
    pub drain_us: u64,
    /// Successful requests.
    pub requests: u64,
    /// Failed requests.
    pub failed: u64,
    /// CPU time of the side in its turn, us; 0 if it cannot be read.
    pub own_cpu_us: u64,
    /// CPU time of all other sides meanwhile, us; 0 if it cannot be read.
    pub others_cpu_us: u64,
}

impl From<[u64; 8]> for TurnCount {
    fn from(numbers: [u64; 8]) -> Self {
        let [
            block,
            start_us,
            length_us,
            drain_us,
            requests,
            failed,
            own_cpu_us,
            others_cpu_us,
        ] = numbers;
        Self {
            block,
            start_us,
            length_us,
            drain_us,
            requests,
            failed,
            own_cpu_us,
            others_cpu_us,
        }
    }
}

impl From<TurnCount> for [u64; 8] {
    fn from(turn: TurnCount) -> Self {
        [
            turn.block,
            turn.start_us,
            turn.length_us,
            turn.drain_us,
            turn.requests,
            turn.failed,
            turn.own_cpu_us,
            turn.others_cpu_us,
        ]
    }
}

impl TurnCount {
    /// Successful requests per second; `None` without any.
    #[must_use]
    pub fn requests_per_s(&self) -> Option<f64> {
        let is_rate = self.requests > 0 && self.length_us > 0;
        is_rate.then(|| as_f64(self.requests) * 1e6 / as_f64(self.length_us))
    }
}

impl LoadSpec {
    /// How many targets it has.
    #[must_use]
    pub fn side_count(&self) -> usize {
        1 + self.further_targets.len()
    }

    /// The load spec of each target alone.
    #[must_use]
    pub fn sides(&self) -> Vec<Self> {
        let targets = std::iter::once(&self.target).chain(&self.further_targets);
        let side = |target: &super::Target| Self {
            target: target.clone(),
            further_targets: Vec::new(),
            ..self.clone()
        };
        targets.map(side).collect()
    }
}

impl LoadInterval {
    /// How long its target was loaded, ns: the whole slice, or its turns in it.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        match &self.turns[..] {
            [] => self.end_ns.saturating_sub(self.start_ns),
            turns => turns.iter().map(|turn| turn.length_us * 1000).sum(),
        }
    }
}
