//! The permutation test of two samples: how often chance alone, dealing the runs out anew, would
//! set the means as far apart as they are.

use crate::random::Random;
use crate::sample::{Sample, count};

/// Up to so many ways of dealing all of them are tried; above, so many are drawn.
pub const DEALS_MAX: u64 = 20_000;

/// Two-sided p-value for the difference of the means: twice the smaller tail, at most 1. Exact
/// while there are at most [`DEALS_MAX`] ways to deal; else from as many draws with the correction
/// of Phipson and Smyth ("Permutation P-values Should Never Be Zero", 2010).
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
    let mut tails = Tails {
        seen,
        slack,
        low: 0.0,
        high: 0.0,
        deals: 0.0,
    };
    if ways(pool.len(), a.runs()) <= DEALS_MAX {
        deal_all(&pool, a.runs(), 0.0, &mut |sum_a| tails.count(gap(sum_a)));
        return tails.two_sided(0.0);
    }
    let mut random = Random::new(seed);
    let mut dealt = pool;
    for _ in 0..DEALS_MAX {
        random.shuffle(&mut dealt);
        tails.count(gap(dealt[..a.runs()].iter().sum()));
    }
    tails.two_sided(1.0)
}

struct Tails {
    seen: f64,
    slack: f64,
    low: f64,
    high: f64,
    deals: f64,
}

impl Tails {
    fn count(&mut self, gap: f64) {
        self.deals += 1.0;
        if gap <= self.seen + self.slack {
            self.low += 1.0;
        }
        if gap >= self.seen - self.slack {
            self.high += 1.0;
        }
    }

    fn two_sided(&self, correction: f64) -> f64 {
        let smaller = self.low.min(self.high);
        (2.0 * (smaller + correction) / (self.deals + correction)).min(1.0)
    }
}

/// Calls `each` with the sum of every choice of `take` values of `pool`.
fn deal_all(pool: &[f64], take: usize, sum: f64, each: &mut impl FnMut(f64)) {
    if take == 0 {
        each(sum);
        return;
    }
    for first in 0..=pool.len() - take {
        deal_all(&pool[first + 1..], take - 1, sum + pool[first], each);
    }
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
