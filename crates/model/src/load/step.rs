//! One step of a load.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Pace;
use crate::text::duration_ns;

/// The stated step is the one nearest to this number of connections: enough to fill one core, and
/// far from where the length of the queue is all that is measured.
const CONNECTIONS_STATED: f64 = 64.0;

/// One step of a ladder.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Step {
    /// Connections.
    pub connections: u32,
    /// How long, at most; in files in ns.
    #[serde(rename = "duration_ns", with = "duration_ns")]
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
    /// Shortest duration of the step.
    #[must_use]
    pub fn shortest(&self) -> Duration {
        self.at_least.unwrap_or(self.duration)
    }

    /// Returns how long the load generator plays at a time: the whole step; or, in a warm-up that
    /// ends when the contender is warm, whole slices that make 2.5 s, or its shortest time if that
    /// is less.
    #[must_use]
    pub fn block(&self, slice: Duration) -> Duration {
        let Some(at_least) = self.at_least else {
            return self.duration;
        };
        let slices = BLOCK
            .min(at_least)
            .as_nanos()
            .div_ceil(slice.as_nanos().max(1));
        let slices = u32::try_from(slices).unwrap_or(u32::MAX);
        slice.saturating_mul(slices).min(self.duration)
    }
}

/// The step at which a table says what every contender takes, as an index: of closed load or users
/// the one nearest to 64 connections by their ratio, the smaller of two; without those the middle
/// one in their order, the earlier of two. Nothing that is measured has a say in it. `None` without
/// a step.
#[must_use]
pub fn stated(steps: &[Step]) -> Option<usize> {
    let closed = |step: &Step| matches!(step.pace, Pace::Closed | Pace::Users { .. });
    let far = |step: &Step| {
        let ratio = f64::from(step.connections) / CONNECTIONS_STATED;
        ratio.ln().abs()
    };
    let all = steps.iter().enumerate();
    let nearest = all.filter(|(_, step)| closed(step)).min_by(|a, b| {
        let smaller = a.1.connections.cmp(&b.1.connections);
        far(a.1).total_cmp(&far(b.1)).then(smaller)
    });
    let middle = (!steps.is_empty()).then(|| (steps.len() - 1) / 2);
    nearest.map(|(index, _)| index).or(middle)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Step, stated};
    use crate::load::Pace;

    #[test]
    fn the_stated_step_is_near_to_64_connections_or_in_the_middle() {
        let step = |connections, pace| Step {
            connections,
            duration: Duration::from_secs(1),
            pace,
            warm_up: false,
            at_least: None,
        };
        let rate = |rate_per_s| Pace::Constant { rate_per_s };
        let closed = |list: &[u32]| -> Option<usize> {
            let steps = list.iter().map(|one| step(*one, Pace::Closed));
            stated(&steps.collect::<Vec<Step>>())
        };
        assert_eq!(closed(&[1, 8, 64, 512]), Some(2));
        assert_eq!(closed(&[128, 32]), Some(1), "the smaller of two");
        assert_eq!(closed(&[2048, 1]), Some(0));
        assert_eq!(closed(&[]), None);
        let rates = [1.0, 2.0, 3.0, 4.0].map(|one| step(64, rate(one)));
        assert_eq!(stated(&rates), Some(1));
        let mixed = [step(64, rate(9.0)), step(1, Pace::Closed)];
        assert_eq!(stated(&mixed), Some(1), "rates only without closed load");
    }

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
