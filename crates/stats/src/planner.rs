//! The number of runs that a session needs to find a given difference, from a pilot of a few.
//!
//! The number is decided once, from the spread of the pilot, and not by looking at the ratio again
//! and again until it is significant, which would find differences that do not exist. The test
//! whose power is planned is the one that [`mod@crate::compare`] makes for this number of runs.

use bakeoff_base::number::length_as_f64 as count;

use crate::distribution::chi_squared_quantile;
use crate::log_ratio::PAIRED_BLOCKS_MIN;
use crate::power::{Exactness, POWER, Threshold};
use crate::sample::{Sample, variance};

/// Confidence of the bound on a pilot's variance. Three runs can show half of the spread by luck,
/// and a session planned for it would find nothing. With this bound the requested power is reached
/// over all sessions, including those with a lucky pilot: in simulations, 81 % or more.
pub const BOUND_CONFIDENCE: f64 = 0.7;

/// Minimum number of runs, unless the relevant difference, and not the test, is what keeps equal
/// contenders from differing significantly. A session that may stop soon does so if its first runs
/// are calm by luck, and these runs are then part of the test: with fewer, 5 % become up to 9 %.
pub const DECIDED_RUNS_MIN: u32 = 8;

/// Spread on the log scale below which there is none: the last digits of equal values.
const DEVIATION_MIN: f64 = 1e-12;

/// The noise between two contenders, estimated from a pilot.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PilotPair {
    /// The contenders have fewer than two blocks in common, or a value that is not positive.
    Unknown,
    /// All runs are equal to the last digit: no number of runs leads to a verdict.
    WithoutSpread,
    /// The spread is known.
    Known(Spread),
}

/// The spread of the log ratio of two contenders.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Spread {
    /// Variance of the log ratios of common blocks.
    paired: f64,
    /// Common blocks less one.
    paired_freedom: f64,
    /// Sum of the variances of the two, each over its runs.
    apart: f64,
    /// Degrees of freedom of `apart`, divided by the blocks less one (Satterthwaite, Biometrics
    /// 1946): 1 if one of the two has all the variance, 2 if both have the same.
    apart_freedom: f64,
    /// Whether the contenders are compared in pairs for any number of runs.
    sets: bool,
}

impl PilotPair {
    /// Estimates the noise from two samples of the pilot, with their blocks.
    #[must_use]
    pub fn of(first: &Sample, second: &Sample) -> Self {
        let common = first.common_blocks(second);
        let Some((a, b)) = first.logs().zip(second.logs()) else {
            return Self::Unknown;
        };
        let differences: Vec<f64> = common.iter().map(|(i, j)| a[*i] - b[*j]).collect();
        let variances = (variance(&differences), variance(&a), variance(&b));
        let (Some(paired), Some(of_a), Some(of_b)) = variances else {
            return Self::Unknown;
        };
        let apart = of_a + of_b;
        if paired.max(apart).sqrt() <= DEVIATION_MIN {
            return Self::WithoutSpread;
        }
        Self::Known(Spread {
            paired,
            paired_freedom: count(differences.len() - 1),
            apart,
            apart_freedom: match apart > 0.0 {
                true => apart * apart / (of_a * of_a + of_b * of_b),
                false => 1.0,
            },
            sets: first.is_of_sets() && second.is_of_sets(),
        })
    }
}

impl Spread {
    /// Returns the standard deviation of the log ratios of common blocks in the pilot: 0.03 = 3 %.
    #[must_use]
    pub fn deviation(&self) -> f64 {
        self.paired.sqrt()
    }

    /// Returns the precision that a comparison would have with this number of runs, by the upper
    /// bound of the variance: pairs are compared as pairs, few whole runs as two samples.
    #[must_use]
    pub fn exactness(&self, runs: u32) -> Exactness {
        let number = f64::from(runs);
        let in_pairs = self.sets || runs as usize >= PAIRED_BLOCKS_MIN;
        let (value, known_by, freedom) = match in_pairs {
            true => (self.paired, self.paired_freedom, number - 1.0),
            false => (
                self.apart,
                self.apart_freedom * self.paired_freedom,
                self.apart_freedom * (number - 1.0),
            ),
        };
        Exactness {
            error: (upper_bound(value, known_by) / number)
                .sqrt()
                .max(DEVIATION_MIN),
            freedom,
        }
    }
}

/// Returns the variance that is not exceeded with [`BOUND_CONFIDENCE`], from an estimate with this
/// number of degrees of freedom: their product, divided by the variance, is distributed as
/// chi-squared.
fn upper_bound(variance: f64, freedom: f64) -> f64 {
    variance * freedom / chi_squared_quantile(1.0 - BOUND_CONFIDENCE, freedom)
}

/// Returns the smallest number of runs, from `least` to `most`, with which two contenders that
/// differ by `difference` (0.05 = 5 %) are found different with a probability of [`POWER`]; `None`
/// if `most` are too few. For [`PilotPair::Unknown`] no number is enough.
#[must_use]
pub fn runs_needed(
    pair: &PilotPair,
    difference: f64,
    threshold: &Threshold,
    range: (u32, u32),
) -> Option<u32> {
    let (least, most) = range;
    let spread = match pair {
        PilotPair::Unknown => return None,
        PilotPair::WithoutSpread => return Some(least),
        PilotPair::Known(spread) => spread,
    };
    let enough = |runs: u32| {
        let test = spread.exactness(runs);
        let calm = test.reach(threshold) <= threshold.relevance.ln_1p();
        (calm || runs >= DECIDED_RUNS_MIN) && test.power(difference, threshold) >= POWER
    };
    // From the first number of pairs on, more runs have more power; below it the test is another
    // one.
    let paired = u32::try_from(PAIRED_BLOCKS_MIN)
        .unwrap_or(u32::MAX)
        .max(least);
    if let Some(runs) = (least..paired.min(most + 1)).find(|runs| enough(*runs)) {
        return Some(runs);
    }
    let (mut low, mut high) = (paired, most);
    if low > high || !enough(high) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        match enough(middle) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    Some(high)
}
