//! How long a session still takes.

use std::time::{Duration, Instant};

/// What the plan expected of the runs against the time that they took.
#[derive(Debug, Default)]
pub(super) struct Pace {
    /// Of all runs of the session.
    pub(super) expected: Duration,
    /// Of the runs that have ended.
    ended: Duration,
    /// Of the run at work.
    at_work: Duration,
    /// When the first run began, and the one at work.
    begun: Option<(Instant, Instant)>,
}

impl Pace {
    pub(super) fn run_begins(&mut self, expected: Duration, now: Instant) {
        self.ended += std::mem::replace(&mut self.at_work, expected);
        let first = self.begun.map_or(now, |(first, _)| first);
        self.begun = Some((first, now));
    }

    /// After the runs up to now, those that are left have this expectation.
    pub(super) fn decided(&mut self, left: Duration) {
        self.expected = self.ended + self.at_work + left;
    }

    /// What is left when the rest takes as long, measured by the plan, as what has ended.
    pub(super) fn left(&self, now: Instant) -> Duration {
        let rest = self.expected.saturating_sub(self.ended);
        let Some((first, at_work)) = self.begun else {
            return rest;
        };
        let factor = match self.ended {
            Duration::ZERO => 1.0,
            ended => (at_work - first).as_secs_f64() / ended.as_secs_f64(),
        };
        rest.mul_f64(factor).saturating_sub(now - at_work)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::Pace;

    #[test]
    fn the_time_left_follows_the_pace_of_the_runs_that_have_ended() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let of_run = Duration::from_secs(30);
        let mut pace = Pace {
            expected: 4 * of_run,
            ..Pace::default()
        };
        assert_eq!(pace.left(at(0)).as_secs(), 120, "nothing has begun");
        pace.run_begins(of_run, at(10));
        assert_eq!(pace.left(at(20)).as_secs(), 110, "nothing has ended");
        pace.run_begins(of_run, at(70));
        assert_eq!(pace.left(at(70)).as_secs(), 180, "one took twice the time");
        assert_eq!(pace.left(at(100)).as_secs(), 150);
        assert_eq!(pace.left(at(1000)).as_secs(), 0, "never below nothing");
    }
}
