//! Where the spread of repeated measurements comes from: from within a group, or from between
//! groups.

use bakeoff_base::number::length_as_f64 as count;

use crate::sample::mean;

/// Standard deviations of a one-way layout: groups of values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Components {
    /// Of values in their group, pooled over all groups.
    pub within: f64,
    /// Of groups beyond what their values explain; 0 where these explain all of it, `None` with
    /// a single group.
    pub between: Option<f64>,
}

impl Components {
    /// The estimates of the analysis of variance for groups of unequal sizes (Searle, Casella and
    /// McCulloch, *Variance Components*, 1992, chapter 3). `None` when no group has two values.
    #[must_use]
    pub fn of(groups: &[Vec<f64>]) -> Option<Self> {
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
        let within = inside / count(total - number);
        let between = (number > 1).then(|| {
            let middle = mean(&all);
            let apart = |group: &&Vec<f64>| count(group.len()) * (mean(group) - middle).powi(2);
            let among = groups.iter().map(apart).sum::<f64>() / count(number - 1);
            let sizes: f64 = groups.iter().map(|group| count(group.len()).powi(2)).sum();
            let size = (count(total) - sizes / count(total)) / count(number - 1);
            ((among - within) / size).max(0.0).sqrt()
        });
        Some(Self {
            within: within.sqrt(),
            between,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Components;

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
}
