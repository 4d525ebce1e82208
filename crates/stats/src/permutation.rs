//! The permutation test of two samples: how often chance alone, dealing the runs out again, would
//! set the means as far apart as they are.

use bakeoff_base::number::length_as_f64 as count;
use bakeoff_base::random::Random;

use crate::sample::Sample;

/// Up to so many ways of dealing all of them count: twelve runs against twelve.
pub const WAYS_MAX: u64 = 3_000_000;
/// Above, so many of them are drawn.
pub const DRAWS: u32 = 20_000;

/// Two-sided p-value for the difference of the means: twice the smaller tail, at most 1. Exact
/// while there are at most [`WAYS_MAX`] ways to deal; else from [`DRAWS`] draws with the
/// correction of Phipson and Smyth ("Permutation P-values Should Never Be Zero", 2010).
///
/// With n and m runs it cannot go below 2 / C(n + m, n): two runs against two never reach 5 %.
#[must_use]
pub fn p_value(a: &Sample, b: &Sample, seed: u64) -> f64 {
    let pool: Vec<f64> = a.values().iter().chain(b.values()).copied().collect();
    let total: f64 = pool.iter().sum();
    let gap = |sum_a: f64| sum_a / count(a.runs()) - (total - sum_a) / count(b.runs());
    let seen = gap(a.values().iter().sum());
    // Sums in another order differ in the last digits: such deals are ties.
    let slack = 1e-12 * pool.iter().map(|value| value.abs()).sum::<f64>();
    let (low, high) = (seen + slack, seen - slack);
    if ways(pool.len(), a.runs()) <= WAYS_MAX {
        let all = Halves::new(&pool, a.runs());
        let tails = Tails {
            low: all.count_while(|sum_a| gap(sum_a) <= low),
            high: all.count() - all.count_while(|sum_a| gap(sum_a) < high),
            deals: all.count(),
        };
        return tails.two_sided(0.0);
    }
    let mut random = Random::new(seed);
    let mut dealt = pool;
    let mut tails = Tails {
        low: 0.0,
        high: 0.0,
        deals: f64::from(DRAWS),
    };
    for _ in 0..DRAWS {
        random.shuffle(&mut dealt);
        let gap = gap(dealt[..a.runs()].iter().sum());
        tails.low += f64::from(u8::from(gap <= low));
        tails.high += f64::from(u8::from(gap >= high));
    }
    tails.two_sided(1.0)
}

/// How many deals are as far apart as what was seen, in either direction.
struct Tails {
    low: f64,
    high: f64,
    deals: f64,
}

impl Tails {
    fn two_sided(&self, correction: f64) -> f64 {
        let smaller = self.low.min(self.high);
        (2.0 * (smaller + correction) / (self.deals + correction)).min(1.0)
    }
}

/// The sums of all choices of `take` values, without making each of them: those of each half of
/// the values by how many are taken from it, in ascending order (Horowitz and Sahni, "Computing
/// Partitions with Applications to the Knapsack Problem", JACM 1974).
struct Halves {
    /// Pairs of sums that go together.
    pairs: Vec<(Vec<f64>, Vec<f64>)>,
}

impl Halves {
    fn new(values: &[f64], take: usize) -> Self {
        let (left, right) = values.split_at(values.len() / 2);
        let (mut left, mut right) = (sums(left, take), sums(right, take));
        let pair = |of_left: usize| {
            let of_right = take - of_left;
            let pair = (left.get_mut(of_left)?, right.get_mut(of_right)?);
            Some((std::mem::take(pair.0), std::mem::take(pair.1)))
        };
        let pairs = (0..=take).filter_map(pair).collect();
        Self { pairs }
    }

    fn count(&self) -> f64 {
        let pairs = self.pairs.iter();
        pairs
            .map(|(left, right)| count(left.len()) * count(right.len()))
            .sum()
    }

    /// How many sums hold a condition that holds for all sums up to some value.
    fn count_while(&self, holds: impl Fn(f64) -> bool) -> f64 {
        let mut found = 0.0;
        for (left, right) in &self.pairs {
            let mut reach = right.len();
            for sum in left {
                while reach > 0 && !holds(sum + right[reach - 1]) {
                    reach -= 1;
                }
                found += count(reach);
            }
        }
        found
    }
}

/// The sums of all choices of 0, 1, ... `most` values, each list in ascending order.
fn sums(values: &[f64], most: usize) -> Vec<Vec<f64>> {
    let mut sums = vec![Vec::new(); most.min(values.len()) + 1];
    sums[0].push(0.0);
    for value in values {
        for taken in (1..sums.len()).rev() {
            let with: Vec<f64> = sums[taken - 1].iter().map(|sum| sum + value).collect();
            sums[taken].extend(with);
        }
    }
    for list in &mut sums {
        list.sort_by(f64::total_cmp);
    }
    sums
}

/// Binomial coefficient, at most `u64::MAX`.
fn ways(of: usize, take: usize) -> u64 {
    let mut ways: u64 = 1;
    for step in 0..take.min(of - take) {
        let Some(product) = ways.checked_mul((of - step) as u64) else {
            return u64::MAX;
        };
        ways = product / (step as u64 + 1);
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::{Halves, p_value};
    use crate::sample::Sample;

    /// Every sum of `take` of `values`.
    fn every(values: &[f64], take: usize) -> Vec<f64> {
        if take == 0 {
            return vec![0.0];
        }
        let first = 0..=values.len() - take;
        first
            .flat_map(|first| {
                let rest = every(&values[first + 1..], take - 1);
                rest.into_iter().map(move |sum| sum + values[first])
            })
            .collect()
    }

    #[test]
    fn halves_count_as_if_every_deal_was_made() {
        // Whole numbers, so that sums in any order are equal; with ties.
        let values = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0];
        for take in 0..=values.len() {
            let (halves, every) = (Halves::new(&values, take), every(&values, take));
            assert_eq!(halves.count(), every.len() as f64, "{take}");
            for bound in 0..45 {
                let bound = f64::from(bound);
                let below = every.iter().filter(|sum| **sum <= bound).count();
                let found = halves.count_while(|sum| sum <= bound);
                assert_eq!(found, below as f64, "{take} {bound}");
            }
        }
    }

    #[test]
    fn twelve_against_twelve_is_exact() {
        let sample = |from: u32| Sample::new((from..from + 12).map(f64::from).collect()).unwrap();
        let (a, b) = (sample(0), sample(12));
        // The one deal that sets the means farthest apart, of C(24, 12), on either side.
        assert_eq!(p_value(&a, &b, 1), 2.0 / 2_704_156.0);
    }
}
