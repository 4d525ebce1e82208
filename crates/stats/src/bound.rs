//! Ratios compared with bounds: significantly above, significantly below, or undecided.
//!
//! This is the t test of [`crate::log_ratio`] with the bound instead of 1, one-sided: it only says
//! where the interval lies, corrected for many comparisons. If the number of sets was decided by
//! looking at them, it is the test of [`mod@crate::sequential`], whose p-values and intervals are
//! valid after any set.

use crate::holm;
use crate::log_ratio::{self, LogRatio, is_ratio};
use crate::sample::{Budget, Estimate, Interval, Sample};
use crate::sequential::Sequential;
use crate::set_pairs::SetPairs;

/// The chance of any false "above" among a session's ratios together, and of a false "below" for
/// each. One-sided, so that the 95 % interval of a single ratio lies on that side.
const ERROR: f64 = 0.025;

/// The side of a bound on which a ratio is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoundSide {
    /// Significantly above, corrected for all ratios of the family.
    Above,
    /// Significantly below, or equal; not corrected.
    Below,
    /// The runs do not decide it.
    Undecided,
}

/// A ratio compared with a bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounded {
    /// Ratio of the geometric means, first over second, with its own 95 % interval. For samples
    /// that were looked at, the interval is valid at every look.
    pub ratio: Estimate,
    /// The side of the bound.
    pub side: BoundSide,
    /// Whether the interval is above, which may be chance because of the size of the family.
    pub alone_above: bool,
}

/// Compares the ratio of each pair, first over second, with its bound; all of them are one family.
///
/// Holm's correction is valid at every look: the p-value of samples that were looked at covers all
/// looks together, and never rises from one to the next.
#[must_use]
pub fn against_bounds(tests: &[(&Sample, &Sample, f64)]) -> Vec<Bounded> {
    let found: Vec<Option<Found>> = tests.iter().map(|test| Found::of(*test)).collect();
    // A ratio without a p-value cannot be called above, so it is not part of the family.
    let p_values = found.iter().flatten().map(|found| found.p_at_most);
    let mut adjusted = holm::adjusted(&p_values.collect::<Vec<f64>>()).into_iter();
    let held = found.iter().zip(tests).map(|(found, test)| {
        let p_adjusted = found.and_then(|_| adjusted.next());
        bounded(*test, found.as_ref().zip(p_adjusted))
    });
    held.collect()
}

/// A ratio and its bound.
#[derive(Debug, Clone, Copy)]
struct Found {
    ratio: LogRatio,
    interval: Option<Interval>,
    /// One-sided p-value of "the ratio is at most the bound".
    p_at_most: f64,
    /// One-sided p-value of "the ratio is at least the bound".
    p_at_least: f64,
    /// Whether the ratio has no result: its sets contradict each other, or are too few for a look.
    is_void: bool,
}

impl Found {
    fn of((first, second, bound): (&Sample, &Sample, f64)) -> Option<Self> {
        let ratio = LogRatio::of(first, second)?;
        let looked = first.looks_with(second);
        let looked = looked.zip(log_ratio::set_pairs(first, second));
        Some(match looked {
            Some((budget, pairs)) => Self::looked_at(ratio, &pairs, budget, bound),
            None => Self {
                ratio,
                interval: ratio.interval(1.0 - 2.0 * ERROR),
                p_at_most: ratio.p_at_most(bound),
                p_at_least: ratio.p_at_least(bound),
                is_void: false,
            },
        })
    }

    fn looked_at(ratio: LogRatio, pairs: &SetPairs, budget: Budget, bound: f64) -> Self {
        let rule = Sequential {
            alpha: 2.0 * ERROR,
            ..Sequential::default()
        };
        let interval = rule.look(pairs, budget).interval();
        let sides = rule.p_sides(pairs, bound.ln(), budget);
        Self {
            ratio,
            interval,
            p_at_most: sides.at_most,
            p_at_least: sides.at_least,
            is_void: interval.is_none(),
        }
    }
}

fn bounded((first, second, _): (&Sample, &Sample, f64), found: Option<(&Found, f64)>) -> Bounded {
    let Some((found, p_adjusted)) = found else {
        let (point, runs) = log_ratio::without_spread(first, second);
        let point = if is_ratio(point) { point } else { f64::NAN };
        return Bounded {
            ratio: Estimate {
                point,
                interval: None,
                runs,
            },
            side: BoundSide::Undecided,
            alone_above: false,
        };
    };
    Bounded {
        ratio: Estimate {
            point: found.ratio.point(),
            interval: found.interval,
            runs: found.ratio.runs,
        },
        side: match (p_adjusted <= ERROR, found.p_at_least <= ERROR) {
            _ if found.is_void => BoundSide::Undecided,
            (true, _) => BoundSide::Above,
            (_, true) => BoundSide::Below,
            _ => BoundSide::Undecided,
        },
        alone_above: found.p_at_most <= ERROR && !found.is_void,
    }
}
