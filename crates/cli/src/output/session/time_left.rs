//! The remaining time of a session.

use std::time::{Duration, Instant};

/// The expected time of the runs against the time that they took. The runs of a set are alive
/// concurrently, so they are looked at when the last of them has ended.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Of all runs of the session.
    pub(super) expected: Duration,
    /// Of the runs that have ended.
    ended: Duration,
    /// Of the runs that are alive, and how many these are.
    alive: (Duration, usize),
    /// When the first run started, and when the last ones ended.
    times: Option<(Instant, Instant)>,
}

impl Pace {
    pub(super) fn run_begins(&mut self, expected: Duration, now: Instant) {
        self.alive = (self.alive.0 + expected, self.alive.1 + 1);
        self.times.get_or_insert((now, now));
    }

    pub(super) fn run_ends(&mut self, now: Instant) {
        self.alive.1 = self.alive.1.saturating_sub(1);
        if self.alive.1 == 0 {
            self.ended += std::mem::take(&mut self.alive.0);
            self.times = self.times.map(|(first, _)| (first, now));
        }
    }

    /// After the runs up to now, those that are left have this expectation.
    pub(super) fn decided(&mut self, left: Duration) {
        self.expected = self.ended + self.alive.0 + left;
    }

    /// Returns the time that is left when the rest takes as long, measured by the plan, as what has
    /// ended.
    pub(super) fn left(&self, now: Instant) -> Duration {
        let rest = self.expected.saturating_sub(self.ended);
        let Some((first, last)) = self.times else {
            return rest;
        };
        let factor = match self.ended {
            Duration::ZERO => 1.0,
            ended => (last - first).as_secs_f64() / ended.as_secs_f64(),
        };
        rest.mul_f64(factor).saturating_sub(now - last)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pace;

    const RUN: Duration = Duration::from_secs(30);

    /// The pace of a session of four runs, and its moments by seconds since it started.
    fn four_runs() -> (Pace, impl Fn(u64) -> Instant) {
        let start = Instant::now();
        let pace = Pace {
            expected: 4 * RUN,
            ..Pace::default()
        };
        (pace, move |seconds| start + Duration::from_secs(seconds))
    }

    #[test]
    fn the_time_left_follows_the_pace_of_the_runs_that_have_ended() {
        let (mut pace, at) = four_runs();
        assert_eq!(pace.left(at(0)).as_secs(), 120, "nothing has started");
        pace.run_begins(RUN, at(10));
        assert_eq!(pace.left(at(20)).as_secs(), 110, "nothing has ended");
        pace.run_ends(at(70));
        assert_eq!(pace.left(at(70)).as_secs(), 180, "one took twice the time");
        pace.run_begins(RUN, at(75));
        assert_eq!(pace.left(at(100)).as_secs(), 150);
        assert_eq!(pace.left(at(1000)).as_secs(), 0, "never below nothing");
    }

    #[test]
    fn the_runs_of_a_set_have_ended_when_the_last_one_has() {
        let (mut pace, at) = four_runs();
        pace.run_begins(RUN, at(0));
        pace.run_begins(RUN, at(5));
        assert_eq!(pace.left(at(20)).as_secs(), 100, "both are alive");
        pace.run_ends(at(60));
        assert_eq!(
            pace.left(at(60)).as_secs(),
            60,
            "one is still being stopped"
        );
        pace.run_ends(at(66));
        assert_eq!(pace.left(at(66)).as_secs(), 66);
    }
}
