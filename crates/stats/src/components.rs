//! The components of the spread of repeated measurements: within groups and between groups.

use bakeoff_base::number::length_as_f64 as count;

use crate::distribution::f_above;
use crate::sample::mean;

/// Standard deviations of a one-way layout: groups of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    /// Deviation of values within their group, pooled over all groups.
    pub within: f64,
    /// Deviation of groups beyond what their values explain; 0 if these explain all of it, `None`
    /// with a single group.
    pub between: Option<f64>,
}

impl Components {
    /// Estimates the components by the analysis of variance for groups of unequal sizes (Searle,
    /// Casella and McCulloch, *Variance Components*, 1992, chapter 3). `None` if no group has two
    /// values.
    #[must_use]
    pub fn of(groups: &[Vec<f64>]) -> Option<Self> {
        let found = MeanSquares::of(groups)?;
        let between = found.among.map(|among| {
            let sizes = groups.iter().map(|group| count(group.len()).powi(2));
            let size = (found.values - sizes.sum::<f64>() / found.values) / (found.groups - 1.0);
            ((among - found.within) / size).max(0.0).sqrt()
        });
        Some(Self {
            within: found.within.sqrt(),
            between,
        })
    }
}

/// The p-value below which groups are not pooled. A test that decides whether to pool must also
/// find small differences: Bancroft, Biometrics 20 (1964), recommends a quarter.
const POOLING: f64 = 0.25;

/// Whether groups differ by too much to be pooled; `None` if this cannot be tested, with a single
/// group or if no group has two values.
#[must_use]
pub fn are_apart(groups: &[Vec<f64>]) -> Option<bool> {
    p_same_mean(groups).map(|p_value| p_value < POOLING)
}

/// Returns the p-value for "the groups have the same mean" by the F test of the analysis of
/// variance.
fn p_same_mean(groups: &[Vec<f64>]) -> Option<f64> {
    let found = MeanSquares::of(groups)?;
    let ratio = found.among? / found.within;
    let freedom = (found.groups - 1.0, found.values - found.groups);
    ratio.is_finite().then(|| f_above(ratio, freedom))
}

/// The table of an analysis of variance.
struct MeanSquares {
    /// Groups that are not empty.
    groups: f64,
    /// Values of all groups.
    values: f64,
    /// Mean square of values in their groups.
    within: f64,
    /// Mean square of groups; `None` with a single one.
    among: Option<f64>,
}

impl MeanSquares {
    /// Returns the mean squares; `None` if no group has two values.
    fn of(groups: &[Vec<f64>]) -> Option<Self> {
        let groups: Vec<&Vec<f64>> = groups.iter().filter(|group| !group.is_empty()).collect();
        let all: Vec<f64> = groups.iter().copied().flatten().copied().collect();
        let (total, number) = (all.len(), groups.len());
        if total <= number {
            return None;
        }
        let squares = |group: &[f64], around: f64| -> f64 {
            group.iter().map(|value| (value - around).powi(2)).sum()
        };
        let inside: f64 = groups.iter().map(|group| squares(group, mean(group))).sum();
        let among = (number > 1).then(|| {
            let middle = mean(&all);
            let apart = |group: &&Vec<f64>| count(group.len()) * (mean(group) - middle).powi(2);
            groups.iter().map(apart).sum::<f64>() / count(number - 1)
        });
        Some(Self {
            groups: count(number),
            values: count(total),
            within: inside / count(total - number),
            among,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Components, p_same_mean};

    fn check(groups: &[&[f64]], expect: Option<(f64, Option<f64>)>) {
        let groups: Vec<Vec<f64>> = groups.iter().map(|group| group.to_vec()).collect();
        let found = Components::of(&groups);
        let rounded = |value: f64| (value * 1e6).round() / 1e6;
        let found = found.map(|found| (rounded(found.within), found.between.map(rounded)));
        assert_eq!(found, expect);
    }

    #[test]
    fn spread_is_told_apart() {
        // Mean squares: 1 within; 48 between, for groups of three.
        let groups: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0], &[9.0, 10.0, 11.0]];
        check(&groups, Some((1.0, Some(3.958_114))));
        // Groups of 2 and 4, by hand: size 8/3, mean squares 4.1875 within and 52.0833 between.
        let groups: [&[f64]; 2] = [&[0.0, 4.0], &[6.0, 8.0, 10.0, 9.0]];
        check(&groups, Some((2.046_338, Some(4.238_035))));
        // Groups that differ by less than their values explain.
        check(&[&[0.0, 10.0], &[1.0, 9.0]], Some((6.403_124, Some(0.0))));
        check(&[&[1.0, 4.0], &[]], Some((2.121_320, None)));
        check(&[&[1.0], &[2.0]], None);
        check(&[], None);
    }

    #[test]
    fn groups_that_differ_have_a_small_p_value() {
        let p_value = |groups: &[&[f64]]| {
            let groups: Vec<Vec<f64>> = groups.iter().map(|group| group.to_vec()).collect();
            p_same_mean(&groups).map(|p_value| (p_value * 1e6).round() / 1e6)
        };
        // F = 48 with 2 and 6 degrees of freedom: (1 + 2 * 48 / 6) to the power of -3.
        let groups: [&[f64]; 3] = [&[1.0, 2.0, 3.0], &[5.0, 6.0, 7.0], &[9.0, 10.0, 11.0]];
        assert_eq!(p_value(&groups), Some(0.000_204));
        // F = 0 with 1 and 2.
        assert_eq!(p_value(&[&[0.0, 10.0], &[1.0, 9.0]]), Some(1.0));
        assert_eq!(p_value(&[&[1.0, 4.0]]), None);
        assert_eq!(p_value(&[&[1.0], &[2.0]]), None);
    }
}
