//! How many runs a wanted precision takes.

use crate::distribution::student_quantile;
use crate::sample::Sample;

/// No plan goes beyond this many runs.
pub const RUNS_MAX: u32 = 10_000;

/// The smallest number of runs at which Student's interval of the mean at `confidence` is expected
/// to reach no further than `precision` (0.02 = ± 2 %) of the mean, given the spread of the runs
/// so far (Kalibera and Jones 2013, section 6, for one level). `None` when the spread cannot be
/// known (one run, or a zero mean), the precision is not positive, or [`RUNS_MAX`] is not enough.
#[must_use]
pub fn runs_needed(sample: &Sample, precision: f64, confidence: f64) -> Option<u32> {
    let variation = sample.variation()?;
    if precision <= 0.0 {
        return None;
    }
    let reaches = |runs: u32| {
        let runs = f64::from(runs);
        student_quantile(0.5 + confidence / 2.0, runs - 1.0) * variation / runs.sqrt() <= precision
    };
    if !reaches(RUNS_MAX) {
        return None;
    }
    // The reach shrinks with every run, so that bisection finds the first that is enough.
    let (mut low, mut high) = (2, RUNS_MAX);
    while low < high {
        let middle = u32::midpoint(low, high);
        if reaches(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    Some(high)
}
