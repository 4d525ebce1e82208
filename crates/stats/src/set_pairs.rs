//! Two services set by set: the log ratios of the sets, and the differences between two fresh
//! processes of one service.
//!
//! The spread of two or three ratios hardly shows how far the ratio of the next set may be, so
//! Student's t multiplies its error by 12.7 or 4.3. If each set has two processes per service,
//! their differences r (of the first) and q (of the second) show the same: they have a mean of
//! zero, whatever the services are, and the log ratio of both means has the variance (E r² + E q²)
//! / 4, whether the two vary alike or not. These are two further variances with as many degrees of
//! freedom as there are sets, which are pooled with the spread of the ratios. Such a moderated
//! variance is common for few replicates (Smyth, "Linear Models and Empirical Bayes Methods for
//! Assessing Differential Expression in Microarray Experiments", Statistical Applications in
//! Genetics and Molecular Biology 2004); here it needs no prior.
//!
//! Twins cannot show a ratio that itself differs from set to set, because both processes of a
//! service share it. The spread of the ratios does: if it is significantly larger, it alone is used
//! (Bancroft, "On Biases in Estimation due to the Use of Preliminary Tests of Significance", Ann.
//! Math. Statist. 1944).

use bakeoff_base::number::length_as_f64 as count;

use crate::distribution::f_above;
use crate::sample::{Sample, variance};

/// The p-value of "twins explain the spread of the ratios" below which they do not. Chosen by
/// simulation (`examples/twins.rs`): at 5 % too many ratios that vary from set to set are not
/// recognised.
const UNEXPLAINED: f64 = 0.2;

/// The sets that two samples have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SetPairs {
    /// First minus second, as logarithms or on another scale on which noise adds up.
    differences: Vec<f64>,
    /// One process of a side minus the other in each set, for both sides; empty unless both have
    /// two in every set.
    gaps: [Vec<f64>; 2],
}

impl From<&[f64]> for SetPairs {
    /// Returns sets with one process of each service.
    fn from(differences: &[f64]) -> Self {
        Self {
            differences: differences.to_vec(),
            gaps: Default::default(),
        }
    }
}

impl SetPairs {
    /// Returns sets with two processes of each service: the difference of the means of each two,
    /// and their gaps. All three have one value for each set.
    #[must_use]
    pub fn with_twins(differences: Vec<f64>, gaps: [Vec<f64>; 2]) -> Self {
        let is_whole = gaps.iter().all(|side| side.len() == differences.len());
        Self {
            differences,
            gaps: if is_whole { gaps } else { Default::default() },
        }
    }

    /// Returns the common blocks of the samples, with their values transformed by a scale.
    pub(crate) fn of(first: &Sample, second: &Sample, scale: &dyn Fn(f64) -> f64) -> Self {
        let common = first.common_blocks(second);
        let (a, b) = (first.values(), second.values());
        let differences = common.iter().map(|(i, j)| scale(a[*i]) - scale(b[*j]));
        let gap = |sample: &Sample, index: usize| {
            let [one, other] = sample.twins(index)?;
            Some(scale(one) - scale(other))
        };
        let ours = common.iter().map(|(index, _)| gap(first, *index));
        let theirs = common.iter().map(|(_, index)| gap(second, *index));
        let gaps = [ours.flatten().collect(), theirs.flatten().collect()];
        Self::with_twins(differences.collect(), gaps)
    }

    /// Returns the number of sets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.differences.len()
    }

    /// Whether there are no sets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.differences.is_empty()
    }

    /// Returns first minus second for each set.
    #[must_use]
    pub fn differences(&self) -> &[f64] {
        &self.differences
    }

    /// Returns the first ones of these sets.
    #[must_use]
    pub fn up_to(&self, sets: usize) -> Self {
        let of_side = |side: &Vec<f64>| side.iter().take(sets).copied().collect();
        Self {
            differences: self.differences[..sets].to_vec(),
            gaps: self.gaps.each_ref().map(of_side),
        }
    }

    /// Whether each set has two processes of both services.
    #[must_use]
    pub fn has_twins(&self) -> bool {
        self.gaps.iter().all(|side| !side.is_empty())
    }

    /// Returns the variance of a set's difference, from the spread of the differences and the
    /// twins' gaps. `None` if only the spread can be used: without twins, for fewer than two sets,
    /// and if twins do not explain it.
    #[must_use]
    pub fn moderated(&self) -> Option<Moderated> {
        let spread = variance(&self.differences)?;
        let freedom = count(self.len() - 1);
        let twins = of_twins(&self.gaps)?;
        if f_above(spread / twins.variance, (freedom, twins.freedom)) < UNEXPLAINED {
            return None;
        }
        let all = freedom + twins.freedom;
        Some(Moderated {
            variance: (freedom * spread + twins.freedom * twins.variance) / all,
            freedom: all,
        })
    }
}

/// The variance of a set's difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moderated {
    /// The variance.
    pub variance: f64,
    /// Degrees of freedom of the variance.
    pub freedom: f64,
}

/// Returns the variance from the gaps of twins alone. `None` without twins, or if they are equal to
/// the last digit.
fn of_twins(gaps: &[Vec<f64>; 2]) -> Option<Moderated> {
    let mean_square =
        |side: &Vec<f64>| side.iter().map(|gap| gap * gap).sum::<f64>() / count(side.len());
    let [first, second] = gaps.each_ref().map(mean_square);
    let both = first + second;
    // Satterthwaite, Biometrics 1946.
    let freedom = both.powi(2) * count(gaps[0].len()) / (first.powi(2) + second.powi(2));
    (both > 0.0 && freedom.is_finite()).then_some(Moderated {
        variance: both / 4.0,
        freedom,
    })
}
