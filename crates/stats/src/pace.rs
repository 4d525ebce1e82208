//! The speed of the host from set to set, from two contenders that it affects alike.

use std::collections::BTreeMap;

use crate::sample::{Sample, mean, variance};

/// The factors that cancel the common slowdown or speedup of a pair's contenders in each set.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    factors: BTreeMap<u32, f64>,
    /// Logarithms of the ratios of the first contender to the second one.
    ratios_ln: Vec<f64>,
}

impl Pace {
    /// Returns the pace of the sets in which both samples have a positive value; `None` if there is
    /// no such set, or the values are not from sets.
    #[must_use]
    pub fn of(first: &Sample, second: &Sample) -> Option<Self> {
        if !first.is_of_sets() || !second.is_of_sets() {
            return None;
        }
        let others: BTreeMap<u32, f64> = second.by_block().collect();
        let common = first.by_block().filter_map(|(set, one)| {
            let other = *others.get(&set)?;
            (one > 0.0 && other > 0.0).then_some((set, one, other))
        });
        let common: Vec<(u32, f64, f64)> = common.collect();
        let levels = common.iter().map(|(_, one, other)| one.midpoint(*other));
        let levels: Vec<f64> = levels.collect();
        if levels.is_empty() {
            return None;
        }
        let average = mean(&levels);
        let sets = common.iter().map(|(set, _, _)| *set);
        let factors = sets.zip(levels.iter().map(|level| average / level));
        let ratios = common.iter().map(|(_, one, other)| (one / other).ln());
        Some(Self {
            factors: factors.collect(),
            ratios_ln: ratios.collect(),
        })
    }

    /// Returns a sample at an even pace: each value is scaled by the factor that makes the mean of
    /// the pair in its set equal to its average over the sets. Ratios within a set stay. Sets
    /// without a pace are omitted; `None` if none is left.
    #[must_use]
    pub fn evened(&self, sample: &Sample) -> Option<Sample> {
        sample.scaled_by(&self.factors)
    }

    /// Returns the standard deviation of one contender's values from set to set at an even pace, as
    /// a share of their level: the deviation of the ratio, divided equally. `None` for a single
    /// set.
    #[must_use]
    pub fn variation(&self) -> Option<f64> {
        Some((variance(&self.ratios_ln)? / 2.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::Pace;
    use crate::{Sample, difference_family};

    fn sets(values: &[f64]) -> Sample {
        Sample::of_sets((0..).zip(values.iter().copied()).collect()).unwrap()
    }

    #[test]
    fn a_host_of_changing_speed_hides_no_difference() {
        let (slow, fast) = (sets(&[150.0, 301.0, 99.0]), sets(&[100.0, 200.0, 67.0]));
        let found = difference_family(&[(&slow, &fast)]);
        assert!(!found[0].is_significant(), "{found:?}");
        let pace = Pace::of(&slow, &fast).unwrap();
        let (slow, fast) = (pace.evened(&slow).unwrap(), pace.evened(&fast).unwrap());
        let found = difference_family(&[(&slow, &fast)]);
        assert!(found[0].is_significant(), "{found:?}");
        for (one, other) in slow.values().iter().zip(fast.values()) {
            assert!((one.midpoint(*other) - 152.833).abs() < 0.001);
        }
        assert!(pace.variation().unwrap() < 0.02, "{pace:?}");
    }

    #[test]
    fn only_sets_in_common_have_a_pace() {
        let (one, two) = (sets(&[1.0, 2.0, 4.0]), sets(&[1.0, 2.0]));
        let pace = Pace::of(&one, &two).unwrap();
        assert_eq!(pace.evened(&one).unwrap().values(), [1.5, 1.5]);
        let runs = Sample::in_blocks(vec![(0, 1.0), (1, 2.0)]).unwrap();
        assert_eq!(Pace::of(&one, &runs), None);
        assert_eq!(Pace::of(&one, &sets(&[0.0])), None);
    }
}
