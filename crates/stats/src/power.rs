//! The power of a t test on a ratio, and the difference that it finds with a given probability.

use crate::distribution::{deviation_density, normal_cdf, student_quantile};

/// The smallest difference that gets a verdict: 3 %.
pub const RELEVANCE: f64 = 0.03;

/// The probability with which a difference is found: in four of five sessions.
pub const POWER: f64 = 0.8;

/// Parts of the interval of integration: even, and enough for six digits.
const PARTS: u32 = 400;

/// The requirements of a verdict on a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// The two-sided level of the test: 0.05 divided by the comparisons of the family, as in the
    /// first step of Holm's correction. Later steps require less, so a power at this level is a
    /// lower bound.
    pub level: f64,
    /// The smallest difference that gets a verdict: 0.03 = 3 %.
    pub relevance: f64,
}

impl Threshold {
    /// Returns 5 % for a family of this number of comparisons, and 3 %, as for verdicts.
    #[must_use]
    pub fn of_family(comparisons: usize) -> Self {
        let comparisons = bakeoff_base::number::length_as_f64(comparisons.max(1));
        Self {
            level: 0.05 / comparisons,
            relevance: RELEVANCE,
        }
    }
}

/// The precision of a t test on a difference between logarithms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exactness {
    /// Standard error of the log ratio.
    pub error: f64,
    /// Degrees of freedom of its estimate.
    pub freedom: f64,
}

impl Exactness {
    /// Returns the probability that two contenders that differ by `difference` (0.05 = 5 %) are
    /// found different in the right direction: the t test rejects, *and* the point ratio is beyond
    /// the relevant one. Without relevance this is the power by the noncentral t distribution
    /// (Johnson, Kotz and Balakrishnan, *Continuous Univariate Distributions* 2, 1995, chapter 31;
    /// `power.t.test` of R), here as the mean over the possible estimates of the standard
    /// deviation.
    #[must_use]
    pub fn power(&self, difference: f64, threshold: &Threshold) -> f64 {
        let critical = self.critical(threshold);
        let relevant = threshold.relevance.ln_1p() / self.error;
        let truth = difference.ln_1p() / self.error;
        let reach = 8.0 / self.freedom.sqrt();
        let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
        let width = (high - low) / f64::from(PARTS);
        // Simpson's rule.
        let terms = (0..=PARTS).map(|part| {
            let share = low + width * f64::from(part);
            let weight = match part {
                0 | PARTS => 1.0,
                odd if odd % 2 == 1 => 4.0,
                _ => 2.0,
            };
            let needed = (critical * share).max(relevant);
            weight * deviation_density(share, self.freedom) * normal_cdf(truth - needed)
        });
        (terms.sum::<f64>() * width / 3.0).min(1.0)
    }

    /// Returns the number of standard errors that the estimate has to exceed.
    fn critical(&self, threshold: &Threshold) -> f64 {
        student_quantile(1.0 - threshold.level / 2.0, self.freedom)
    }

    /// Returns the smallest ratio that is significant, on the log scale.
    #[must_use]
    pub fn reach(&self, threshold: &Threshold) -> f64 {
        self.critical(threshold) * self.error
    }

    /// Returns the smallest difference that is found with a probability of [`POWER`], as a share:
    /// 0.05 = 5 %.
    #[must_use]
    pub fn detectable(&self, threshold: &Threshold) -> f64 {
        let (mut low, mut high) = (0.0, threshold.relevance.max(0.01));
        while self.power(high, threshold) < POWER && high < 1e9 {
            (low, high) = (high, high * 2.0);
        }
        // To a thousandth of itself: it is shown with two or three digits.
        while high - low > 1e-3 * high {
            let middle = low.midpoint(high);
            match self.power(middle, threshold) < POWER {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    }
}
