//! The difference between two contenders in the unit of a metric. Unlike a ratio, a difference
//! exists if one of them uses nothing.

use crate::holm;
use crate::log_ratio::LogRatio;
use crate::sample::{Estimate, Interval, Sample, mean};
use crate::sequential::Sequential;
use crate::set_pairs::SetPairs;

/// The chance of any false difference in a family.
const ERROR: f64 = 0.05;

/// The first sample minus the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The difference of the means with its own 95 % interval, in the unit of the samples. For
    /// sets, over those in common.
    pub estimate: Estimate,
    /// The p-value of "there is no difference" after the correction for all differences of the
    /// family; `None` if the spread is unknown.
    pub p_adjusted: Option<f64>,
}

impl Difference {
    /// Whether there is a difference, with the error of the whole family.
    #[must_use]
    pub fn is_significant(&self) -> bool {
        self.p_adjusted.is_some_and(|p_value| p_value <= ERROR)
    }
}

/// Returns the first minus the second of each pair: one family, in which the chance of any false
/// difference is at most 5 % (Holm).
///
/// Pairs and sittings count as in [`mod@crate::compare`]: sets are compared set by set, and if
/// their number was decided by looking at them, the interval and the p-value are valid at any look.
#[must_use]
pub fn difference_family(pairs: &[(&Sample, &Sample)]) -> Vec<Difference> {
    let found = pairs.iter().map(|(first, second)| found(first, second));
    let found: Vec<(Estimate, Option<f64>)> = found.collect();
    let values: Vec<f64> = found.iter().filter_map(|(_, p_value)| *p_value).collect();
    let mut adjusted = holm::adjusted(&values).into_iter();
    let differences = found.into_iter().map(|(estimate, p_value)| Difference {
        estimate,
        p_adjusted: p_value.and_then(|_| adjusted.next()),
    });
    differences.collect()
}

/// Returns the difference and its own p-value.
fn found(first: &Sample, second: &Sample) -> (Estimate, Option<f64>) {
    let scale = f64::midpoint(first.mean().abs(), second.mean().abs());
    // The tests assume noise as a share of the level, whatever the level is.
    let scaled = |sample: &Sample| -> Vec<f64> {
        let values = sample.values().iter();
        values.map(|value| value / scale).collect()
    };
    let (mut a, b) = (scaled(first), scaled(second));
    let mut pairs = SetPairs::of(first, second, &|value| value / scale);
    let found = LogRatio::of_values(first, second, &pairs, &a, &b).or_else(|| {
        blur(&mut a);
        let mut differences = pairs.differences().to_vec();
        blur(&mut differences);
        pairs = SetPairs::from(&differences[..]);
        LogRatio::of_values(first, second, &pairs, &a, &b).filter(|_| scale > 0.0)
    });
    let Some(found) = found else {
        return (without_spread(first, second), None);
    };
    let looked = first.looks_with(second);
    let looked = looked.map(|budget| Sequential::default().look(&pairs, budget));
    let (interval, p_value) = match looked {
        Some(look) => (look.interval_ln, look.p_value),
        None => (Some(found.interval_ln(1.0 - ERROR)), found.p_equal()),
    };
    let estimate = Estimate {
        point: found.difference * scale,
        interval: interval.map(|ends| Interval {
            low: ends.low * scale,
            high: ends.high * scale,
        }),
        runs: found.runs,
    };
    (estimate, Some(p_value))
}

/// Returns the difference if its spread is unknown; for sets over those in common.
fn without_spread(first: &Sample, second: &Sample) -> Estimate {
    let common = SetPairs::of(first, second, &|value| value);
    let are_sets = first.is_of_sets() && second.is_of_sets() && !common.is_empty();
    let (point, runs) = match are_sets {
        true => (mean(common.differences()), common.len()),
        false => {
            let runs = first.runs().min(second.runs());
            (first.mean() - second.mean(), runs)
        }
    };
    Estimate {
        point,
        interval: None,
        runs,
    }
}

/// Relative precision of a count that is the same in every run, such as one log line for each
/// request, and therefore has no spread: counters are not read at the edge of a request.
const RESOLUTION: f64 = 1e-5;

/// Moves values up and down by their precision.
fn blur(values: &mut [f64]) {
    for (index, value) in values.iter_mut().enumerate() {
        *value += if index % 2 == 0 {
            RESOLUTION
        } else {
            -RESOLUTION
        };
    }
}

#[cfg(test)]
mod tests {
    use super::difference_family;
    use crate::sample::{Budget, Sample};

    fn sets(values: &[f64]) -> Sample {
        let numbered = (1..).zip(values.iter().copied());
        Sample::of_sets(numbered.collect()).unwrap()
    }

    #[test]
    fn what_only_one_takes_is_a_difference_with_an_interval() {
        let (some, none) = (sets(&[4.0, 4.2, 3.8, 4.1, 3.9]), sets(&[0.0; 5]));
        let found = difference_family(&[(&some, &none), (&none, &some), (&none, &none)]);
        assert!(found[0].is_significant() && found[1].is_significant());
        // t.test(c(4, 4.2, 3.8, 4.1, 3.9)) of R: 3.803676 to 4.196324.
        let interval = found[0].estimate.interval.unwrap();
        assert!((interval.low - 3.803_676).abs() < 1e-5, "{interval:?}");
        assert!((interval.high - 4.196_324).abs() < 1e-5, "{interval:?}");
        assert!((found[1].estimate.point + 4.0).abs() < 1e-9);
        assert_eq!(found[2].estimate.point, 0.0);
        assert!(!found[2].is_significant());
    }

    #[test]
    fn counts_without_any_spread_differ_unless_they_are_equal() {
        let (one, two) = (sets(&[1.0; 5]), sets(&[2.0; 5]));
        let found = difference_family(&[(&two, &one), (&one, &one)]);
        assert!(found[0].is_significant() && !found[1].is_significant());
        let alone = sets(&[2.0]);
        assert_eq!(difference_family(&[(&alone, &one)])[0].p_adjusted, None);
    }

    #[test]
    fn sets_that_rise_together_are_compared_set_by_set() {
        let first = sets(&[10.0, 20.0, 30.0, 40.0]);
        let second = sets(&[9.0, 19.1, 28.9, 39.0]);
        let found = difference_family(&[(&first, &second)]);
        assert!(found[0].is_significant(), "{found:?}");
    }

    #[test]
    fn looking_and_a_family_ask_for_more() {
        let (first, second) = (sets(&[5.0, 5.1, 5.6, 5.0, 5.3]), sets(&[5.0; 5]));
        let p_value =
            |pairs: &[(&Sample, &Sample)]| difference_family(pairs)[0].p_adjusted.unwrap();
        let alone = p_value(&[(&first, &second)]);
        let equal = sets(&[5.0, 4.9, 5.1, 5.0, 5.02]);
        assert!(p_value(&[(&first, &second), (&equal, &second)]) > alone);
        let looked = |sample: &Sample| sample.clone().looked_at(Budget::Left);
        assert!(p_value(&[(&looked(&first), &looked(&second))]) > alone);
    }
}
