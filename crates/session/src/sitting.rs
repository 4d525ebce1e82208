//! A sitting: the part of a session that is measured at once. The rest is left for the next one.

use std::cell::Cell;
use std::fmt;
use std::time::{Duration, Instant};

/// The end of a sitting, and how long its runs took so far against their plan.
#[derive(Debug)]
pub struct Sitting {
    ends_at: Instant,
    /// The largest ratio of real and expected time of what was played; `None` before the first.
    pace: Cell<Option<f64>>,
}

/// Nothing more fits into the sitting: it ends a session like an error, but is not one.
#[derive(Debug)]
pub(crate) struct SittingOver;

impl fmt::Display for SittingOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nothing more fits into the sitting")
    }
}

impl std::error::Error for SittingOver {}

impl Sitting {
    /// Returns a sitting that starts now.
    #[must_use]
    pub fn of(length: Duration) -> Self {
        Self {
            ends_at: Instant::now() + length,
            pace: Cell::new(None),
        }
    }

    /// How long what takes `shortest` to `longest` by its plan probably takes: by the slowest so
    /// far, or the shortest while nothing is known.
    fn forecast(&self, shortest: Duration, longest: Duration) -> Duration {
        match self.pace.get() {
            Some(pace) => longest.mul_f64(pace),
            None => shortest,
        }
    }

    /// Whether that much time is left.
    ///
    /// # Errors
    /// The runs do not fit into the sitting.
    pub(crate) fn fits(&self, shortest: Duration, longest: Duration) -> Result<(), SittingOver> {
        let left = self.ends_at.saturating_duration_since(Instant::now());
        match self.forecast(shortest, longest) <= left {
            true => Ok(()),
            false => Err(SittingOver),
        }
    }

    /// Learns how long something took that was expected to take `longest`.
    pub(crate) fn took(&self, longest: Duration, real: Duration) {
        if !longest.is_zero() {
            let pace = real.as_secs_f64() / longest.as_secs_f64();
            let slowest = self.pace.get().map_or(pace, |before| before.max(pace));
            self.pace.set(Some(slowest));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::Sitting;

    #[test]
    fn a_sitting_learns_from_its_runs_what_still_fits() {
        let minutes = |count: u64| Duration::from_secs(60 * count);
        let sitting = Sitting::of(minutes(10));
        // Nothing is known: the shortest decides.
        assert!(sitting.fits(minutes(5), minutes(20)).is_ok());
        assert!(sitting.fits(minutes(11), minutes(20)).is_err());
        sitting.took(minutes(20), minutes(5));
        assert!(sitting.fits(minutes(5), minutes(20)).is_ok());
        sitting.took(minutes(20), minutes(15));
        assert!(sitting.fits(minutes(5), minutes(20)).is_err());
        assert!(sitting.fits(minutes(5), minutes(10)).is_ok());
    }
}
