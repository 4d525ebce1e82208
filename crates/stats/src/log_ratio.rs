//! The ratio of two contenders on the log scale: its point, its standard error and the degrees of
//! freedom, from which every interval and test follows. [`mod@crate::compare`] interprets it.
//!
//! Logarithms, because noise of a service is a share of its level, because a ratio and its inverse
//! then have mirrored intervals, and because throughput over runs is skewed on the other scale.

use std::collections::BTreeMap;

use bakeoff_base::number::length_as_f64 as count;

use crate::components::are_apart;
use crate::distribution::{student_cdf, student_quantile};
use crate::power::Exactness;
use crate::sample::{Interval, Sample, mean, variance};
use crate::set_pairs::SetPairs;

/// The number of common blocks from which on two samples are compared block by block. Pairs have
/// `n - 1` degrees of freedom, Welch up to `2n - 2`: with fewer blocks that costs more than common
/// effects of the blocks can give back. Sets are always compared by pairs: their contenders share
/// most of the variation.
pub const PAIRED_BLOCKS_MIN: usize = 5;

/// Spread on the log scale below which there is none: the last digits of equal values.
const DEVIATION_MIN: f64 = 1e-12;

/// How two samples were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Not at all: one run on a side, no spread, or a value that is not positive.
    None,
    /// Student's t of the log ratios of common blocks.
    Paired,
    /// Student's t of the sets' log ratios, with the spread of two processes each.
    Twins,
    /// Student's t of the mean log ratios of sittings.
    Sittings,
    /// Welch's t of the logs.
    Welch,
}

/// The difference of two means of logs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogRatio {
    /// First minus second.
    pub(crate) difference: f64,
    /// Standard error of the difference; above 0.
    pub(crate) error: f64,
    /// Degrees of freedom; at least 1.
    pub(crate) freedom: f64,
    /// The method by which it was found.
    pub method: Method,
    /// Pairs, or runs of the smaller side.
    pub runs: usize,
}

/// The amount of data behind a look.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LookedAt {
    /// The number of sets.
    pub sets: usize,
    /// Degrees of freedom of the variance: one less than the sets, and those of twins.
    pub freedom: f64,
}

impl LookedAt {
    /// Returns the amount of data for sets with one process of each service.
    #[must_use]
    pub fn without_twins(sets: usize) -> Self {
        Self {
            sets,
            freedom: count(sets.saturating_sub(1)),
        }
    }
}

impl LogRatio {
    /// Compares two samples. `None` if either side has a value that is not positive, if there are
    /// too few runs for a spread, or if there is no spread at all: runs that are equal to the last
    /// digit do not show their noise, and would make anything certain.
    #[must_use]
    pub fn of(first: &Sample, second: &Sample) -> Option<Self> {
        let pairs = set_pairs(first, second)?;
        Self::of_values(first, second, &pairs, &first.logs()?, &second.logs()?)
    }

    /// Compares the transformed values of both samples, by their blocks and sittings.
    pub(crate) fn of_values(
        first: &Sample,
        second: &Sample,
        pairs: &SetPairs,
        a: &[f64],
        b: &[f64],
    ) -> Option<Self> {
        if are_sets(first, second) {
            let fixed = first.looks_with(second).is_none();
            let sittings = fixed.then(|| by_sitting(first, second, pairs.differences()));
            let of_sittings = sittings.and_then(|sittings| Self::of_sittings(&sittings));
            of_sittings.or_else(|| Self::of_sets(pairs))
        } else if pairs.len() >= PAIRED_BLOCKS_MIN {
            Self::of_sets(pairs)
        } else {
            Self::welch(a, b)
        }
    }

    /// Compares by Student's t for pairs ("The Probable Error of a Mean", Biometrika 1908): the
    /// common effect of a block cancels out.
    pub(crate) fn paired(differences: &[f64]) -> Option<Self> {
        let runs = differences.len();
        let error = (variance(differences)? / count(runs)).sqrt();
        Self::new(
            mean(differences),
            error,
            count(runs - 1),
            Method::Paired,
            runs,
        )
    }

    /// Returns the mean over sets. If each has two processes of both sides, their differences are
    /// part of its error. `None` for fewer than two sets, and without any spread.
    #[must_use]
    pub fn of_sets(pairs: &SetPairs) -> Option<Self> {
        let Some(moderated) = pairs.moderated() else {
            return Self::paired(pairs.differences());
        };
        let sets = pairs.len();
        let error = (moderated.variance / count(sets)).sqrt();
        let difference = mean(pairs.differences());
        Self::new(difference, error, moderated.freedom, Method::Twins, sets)
    }

    /// Returns the mean over sittings if they differ by more than their sets explain: then they are
    /// the observations, because more sets at the same hour do not show another hour. `None` if
    /// they do not differ.
    fn of_sittings(sittings: &[Vec<f64>]) -> Option<Self> {
        are_apart(sittings).filter(|apart| *apart)?;
        let means: Vec<f64> = sittings.iter().map(|sets| mean(sets)).collect();
        let error = (variance(&means)? / count(means.len())).sqrt();
        let runs = sittings.iter().map(Vec::len).sum();
        Self::new(
            mean(&means),
            error,
            count(means.len() - 1),
            Method::Sittings,
            runs,
        )
    }

    /// Compares by Welch's t, without pooling the variances, which may differ: Welch, "The
    /// Generalization of 'Student's' Problem when Several Different Population Variances are
    /// Involved", Biometrika 1947; degrees of freedom after Satterthwaite, Biometrics 1946.
    fn welch(a: &[f64], b: &[f64]) -> Option<Self> {
        let of_a = variance(a)? / count(a.len());
        let of_b = variance(b)? / count(b.len());
        let both = of_a + of_b;
        let freedom =
            both.powi(2) / (of_a.powi(2) / count(a.len() - 1) + of_b.powi(2) / count(b.len() - 1));
        let runs = a.len().min(b.len());
        Self::new(mean(a) - mean(b), both.sqrt(), freedom, Method::Welch, runs)
    }

    fn new(difference: f64, error: f64, freedom: f64, method: Method, runs: usize) -> Option<Self> {
        let shown = error > DEVIATION_MIN && error.is_finite() && freedom >= 0.99;
        (shown && is_ratio(difference.exp())).then_some(Self {
            difference,
            error,
            freedom,
            method,
            runs,
        })
    }

    /// Returns the sets and the degrees of freedom behind the ratio.
    pub(crate) fn looked_at(&self) -> LookedAt {
        LookedAt {
            sets: self.runs,
            freedom: self.freedom,
        }
    }

    /// Returns the ratio of the geometric means.
    #[must_use]
    pub fn point(&self) -> f64 {
        self.difference.exp()
    }

    /// Returns the interval of the ratio at `confidence` (0.95 = 95 %); `None` if an end is not a
    /// number.
    #[must_use]
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let Interval { low, high } = self.interval_ln(confidence);
        let (low, high) = (low.exp(), high.exp());
        (is_ratio(low) && is_ratio(high)).then_some(Interval { low, high })
    }

    /// Returns the interval of the ratio's logarithm.
    pub(crate) fn interval_ln(&self, confidence: f64) -> Interval {
        let reach = student_quantile(0.5 + confidence / 2.0, self.freedom) * self.error;
        Interval {
            low: self.difference - reach,
            high: self.difference + reach,
        }
    }

    /// Returns the precision of the ratio.
    #[must_use]
    pub fn exactness(&self) -> Exactness {
        Exactness {
            error: self.error,
            freedom: self.freedom,
        }
    }

    /// Returns the two-sided p-value for "they are equal".
    #[must_use]
    pub fn p_equal(&self) -> f64 {
        2.0 * student_cdf(-(self.difference / self.error).abs(), self.freedom)
    }

    /// Returns the one-sided p-value for "the ratio is at most `bound`": small if it is
    /// significantly above.
    #[must_use]
    pub fn p_at_most(&self, bound: f64) -> f64 {
        student_cdf((bound.ln() - self.difference) / self.error, self.freedom)
    }

    /// Returns the one-sided p-value for "the ratio is at least `bound`": small if it is
    /// significantly below.
    #[must_use]
    pub fn p_at_least(&self, bound: f64) -> f64 {
        student_cdf((self.difference - bound.ln()) / self.error, self.freedom)
    }

    /// Returns the p-value for "they differ by more than `relevance`" (0.03 = outside of 1/1.03 to
    /// 1.03): the larger of two one-sided tests (Schuirmann, J. Pharmacokinetics and
    /// Biopharmaceutics 1987). At most 5 % exactly if the 90 % interval lies within.
    #[must_use]
    pub fn p_different(&self, relevance: f64) -> f64 {
        let margin = relevance.ln_1p();
        student_cdf((self.difference.abs() - margin) / self.error, self.freedom)
    }
}

/// Returns the log ratios of the common blocks, in order; none if a value is not positive.
#[must_use]
pub fn log_ratios(first: &Sample, second: &Sample) -> SetPairs {
    set_pairs(first, second).unwrap_or_default()
}

/// Returns the log ratios of the common blocks; `None` if a value is not positive.
pub(crate) fn set_pairs(first: &Sample, second: &Sample) -> Option<SetPairs> {
    first.logs().and(second.logs())?;
    Some(SetPairs::of(first, second, &f64::ln))
}

/// Returns the differences of the common blocks, by sitting.
fn by_sitting(first: &Sample, second: &Sample, differences: &[f64]) -> Vec<Vec<f64>> {
    let mut sittings: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
    let common = first.common_blocks(second);
    for ((index, _), difference) in common.iter().zip(differences) {
        let own = sittings.entry(first.sitting(*index)).or_default();
        own.push(*difference);
    }
    sittings.into_values().collect()
}

fn are_sets(first: &Sample, second: &Sample) -> bool {
    first.is_of_sets() && second.is_of_sets()
}

/// Returns the ratio if its spread is unknown, and its number of runs: the ratio of the means, or
/// for sets the ratio over those in common, because any other set met another host. Not a number
/// without a common set.
pub(crate) fn without_spread(first: &Sample, second: &Sample) -> (f64, usize) {
    if !are_sets(first, second) {
        let runs = first.runs().min(second.runs());
        return (first.mean() / second.mean(), runs);
    }
    let common = first.common_blocks(second);
    let (a, b) = (first.values(), second.values());
    let sum: f64 = common.iter().map(|(i, j)| (a[*i] / b[*j]).ln()).sum();
    ((sum / count(common.len())).exp(), common.len())
}

/// Whether the value can be a ratio of two positive numbers.
pub(crate) fn is_ratio(value: f64) -> bool {
    value.is_finite() && value > 0.0
}
