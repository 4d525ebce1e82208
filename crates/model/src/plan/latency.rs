//! The comparison of response times of contenders that take turns: after all turns, in open load at
//! one rate for all. The times in the turns themselves are those of bursts, which no user sees.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::step::{self, Step};
use crate::text::duration_ns;

/// The open load of each contender of a set after its steps. The contenders are loaded one at a
/// time, slice by slice, in cycles with one slice of each in an order that is drawn from the seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyLoad {
    /// Connections: those of the stated step, at least 64.
    pub connections: u32,
    /// Shortest time for which each contender is loaded in all, whole slices; in files in ns. It is
    /// loaded for longer, six seconds at most, if its rate gives too few requests for a 99th
    /// percentile.
    #[serde(rename = "duration_ns", with = "duration_ns")]
    #[schemars(with = "u64")]
    pub duration: Duration,
    /// How long a contender is loaded at a time; in files in ns.
    #[serde(rename = "slice_ns", with = "duration_ns")]
    #[schemars(with = "u64")]
    pub slice: Duration,
}

impl LatencyLoad {
    /// How long a contender is loaded at a time: as long as a disturbance of the host lasts, so
    /// that it does not meet one contender alone.
    const SLICE: Duration = Duration::from_millis(200);
    /// How long it is loaded in all at least, and at most.
    const SHORTEST: Duration = Duration::from_secs(1);
    const LONGEST: Duration = Duration::from_secs(6);
    /// Fewer connections are not opened: with few of them requests would wait for a free one.
    const CONNECTIONS_MIN: u32 = 64;
    /// With this number of requests in a set, fifty are beyond the 99th percentile.
    const REQUESTS: f64 = 5250.0;
    /// How long each contender is loaded before its first slice, recorded as warm-up.
    pub const WARM_UP: Duration = Duration::from_millis(200);
    /// The rate as a share of what the slowest contender serves: it holds this rate also while the
    /// host is disturbed, the load generator sends it on time, and requests still meet each other.
    pub const SHARE_OF_SLOWEST: f64 = 0.5;

    /// Returns the load after these steps; `None` if none of them is measured.
    pub(super) fn of(steps: &[Step]) -> Option<Self> {
        let stated = &steps[stated_step(steps)?];
        let duration = (stated.duration / 2).clamp(Self::SHORTEST, Self::LONGEST);
        let slices = duration.as_nanos().div_ceil(Self::SLICE.as_nanos());
        Some(Self {
            connections: stated.connections.max(Self::CONNECTIONS_MIN),
            duration: Self::SLICE * u32::try_from(slices).unwrap_or(1),
            slice: Self::SLICE,
        })
    }

    /// How many slices each contender has at this rate.
    #[must_use]
    pub fn cycles(&self, rate_per_s: f64) -> u32 {
        let needed_s = (Self::REQUESTS / rate_per_s).clamp(0.0, Self::LONGEST.as_secs_f64());
        let duration = self.duration.max(Duration::from_secs_f64(needed_s));
        let slices = duration.as_nanos().div_ceil(self.slice.as_nanos().max(1));
        u32::try_from(slices).unwrap_or(u32::MAX)
    }

    /// How long each contender is loaded, its warm-up included.
    #[must_use]
    pub fn expected(&self) -> Duration {
        self.duration + Self::WARM_UP
    }
}

/// Returns the measured step that [`step::stated`] names, as an index of all steps.
#[must_use]
pub fn stated_step(steps: &[Step]) -> Option<usize> {
    let all = steps.iter().enumerate();
    let measured = all.filter(|(_, step)| !step.warm_up);
    let (indices, measured): (Vec<usize>, Vec<Step>) =
        measured.map(|(index, step)| (index, *step)).unzip();
    Some(indices[step::stated(&measured)?])
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::LatencyLoad;
    use crate::load::Pace;
    use crate::load::step::Step;

    fn step(connections: u32, duration_ms: u64, warm_up: bool) -> Step {
        Step {
            connections,
            duration: Duration::from_millis(duration_ms),
            pace: Pace::Closed,
            warm_up,
            at_least: None,
        }
    }

    /// Connections, cycles at a high rate and the expected duration, ms.
    #[track_caller]
    fn check(steps: &[Step], expect: Option<(u32, u32, u128)>) {
        let load = LatencyLoad::of(steps);
        let found = load.map(|load| {
            let expected = load.expected().as_millis();
            (load.connections, load.cycles(1e6), expected)
        });
        assert_eq!(found, expect);
    }

    #[test]
    fn it_has_the_connections_of_the_stated_step_and_one_to_six_seconds() {
        let warm_up = step(64, 60_000, true);
        check(&[warm_up, step(8, 5000, false)], Some((64, 13, 2800)));
        let ladder = [step(8, 3000, false), step(50, 4000, false)];
        check(&ladder, Some((64, 10, 2200)));
        check(&[step(100, 300, false)], Some((100, 5, 1200)));
        check(&[step(8, 2500, false)], Some((64, 7, 1600)));
        check(&[step(8, 60_000, false)], Some((64, 30, 6200)));
        check(&[warm_up], None);
    }

    #[test]
    fn a_low_rate_takes_longer_until_a_99th_percentile_is_known() {
        let load = LatencyLoad::of(&[step(64, 3000, false)]).unwrap();
        let cycles = [4000.0, 3000.0, 2000.0, 1050.0, 10.0].map(|rate| load.cycles(rate));
        assert_eq!(cycles, [8, 9, 14, 25, 30]);
    }
}
