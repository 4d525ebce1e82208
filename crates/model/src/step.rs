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
    /// How long, at most; in files in ns.
    #[serde(rename = "duration_ns", alias = "duration", with = "duration_ns")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// How sends are paced.
    pub pace: Pace,
    /// Warm-up, recorded as such.
    pub warm_up: bool,
    /// Makes it a warm-up that ends when the contender is warm, this long at least; in files in ns.
    #[serde(
        rename = "at_least_ns",
        default,
        skip_serializing_if = "Option::is_none",
        with = "duration_ns::option"
    )]
    #[schemars(with = "Option<u64>")]
    pub at_least: Option<Duration>,
}

/// How often it is asked whether a contender is warm: each question ends a block of the load.
const BLOCK: Duration = Duration::from_millis(2500);

impl Step {
    /// How long it takes at least.
    #[must_use]
    pub fn shortest(&self) -> Duration {
        self.at_least.unwrap_or(self.duration)
    }

    /// What the load generator plays at a time: the whole step, or of a warm-up that ends when the
    /// contender is warm so many slices as make 2.5 s.
    #[must_use]
    pub fn block(&self, slice: Duration) -> Duration {
        if self.at_least.is_none() {
            return self.duration;
        }
        let slices = BLOCK.as_nanos().div_ceil(slice.as_nanos().max(1));
        let slices = u32::try_from(slices).unwrap_or(u32::MAX);
        slice.saturating_mul(slices).min(self.duration)
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Pace, Step};

    #[test]
    fn blocks_are_whole_slices() {
        let check = |at_least: Option<u64>, slice: u64, expect: u64| {
            let step = Step {
                connections: 64,
                duration: Duration::from_secs(60),
                pace: Pace::Closed,
                warm_up: true,
                at_least: at_least.map(Duration::from_secs),
            };
            let block = step.block(Duration::from_millis(slice));
            assert_eq!(block, Duration::from_millis(expect));
        };
        check(None, 1000, 60_000);
        check(Some(10), 1000, 3000);
        check(Some(10), 1250, 2500);
        check(Some(10), 300, 2700);
        check(Some(10), 7000, 7000);
        check(Some(10), 90_000, 60_000);
    }
}
