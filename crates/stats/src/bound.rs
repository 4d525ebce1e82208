//! Ratios held against bounds: significantly above, significantly below, or undecided.
//!
//! It is the t test of [`crate::log_ratio`] with the bound in the place of 1, on one side: nothing
//! else than where the interval lies, with the correction for many of them.

use crate::holm;
use crate::log_ratio::{self, LogRatio, is_ratio};
use crate::sample::{Estimate, Sample};

/// The chance of any false "above" among all ratios of a session together, and of a false "below"
/// for each. On one side, so that of a single ratio the 95 % interval lies on that side.
const ERROR: f64 = 0.025;

/// On which side of a bound a ratio is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Significantly above, with all ratios of the family considered.
    Above,
    /// Significantly below, or equal; considered alone.
    Below,
    /// The runs do not tell.
    Undecided,
}

/// A ratio against a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    /// Ratio of the geometric means, first over second, with its own 95 % interval.
    pub ratio: Estimate,
    /// On which side it is.
    pub side: Side,
    /// The interval is above, but with so many in one family that may be chance.
    pub alone_above: bool,
}

/// Holds first over second against a bound, for each; all of them are one family.
#[must_use]
pub fn against_bounds(tests: &[(&Sample, &Sample, f64)]) -> Vec<Bounded> {
    let found: Vec<Option<LogRatio>> = tests
        .iter()
        .map(|(first, second, _)| LogRatio::of(first, second))
        .collect();
    let with_bounds = found.iter().zip(tests);
    // One without a p-value cannot be called above, so it is no part of the family.
    let p_values = with_bounds.filter_map(|(found, test)| Some(found.as_ref()?.p_at_most(test.2)));
    let mut adjusted = holm::adjusted(&p_values.collect::<Vec<f64>>()).into_iter();
    let held = found.iter().zip(tests).map(|(found, test)| {
        let p_adjusted = found.and_then(|_| adjusted.next());
        bounded(*test, found.as_ref().zip(p_adjusted))
    });
    held.collect()
}

fn bounded(
    (first, second, bound): (&Sample, &Sample, f64),
    found: Option<(&LogRatio, f64)>,
) -> Bounded {
    let Some((found, p_adjusted)) = found else {
        let (point, runs) = log_ratio::without_spread(first, second);
        let point = if is_ratio(point) { point } else { f64::NAN };
        return Bounded {
            ratio: Estimate {
                point,
                interval: None,
                runs,
            },
            side: Side::Undecided,
            alone_above: false,
        };
    };
    let alone_above = found.p_at_most(bound) <= ERROR;
    Bounded {
        ratio: Estimate {
            point: found.point(),
            interval: found.interval(1.0 - 2.0 * ERROR),
            runs: found.runs,
        },
        side: match (p_adjusted <= ERROR, found.p_at_least(bound) <= ERROR) {
            (true, _) => Side::Above,
            (_, true) => Side::Below,
            _ => Side::Undecided,
        },
        alone_above,
    }
}
