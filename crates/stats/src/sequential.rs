//! Stops a paired comparison as soon as it is sure, with an error that is valid for any number of
//! looks.
//!
//! A set has one or two fresh processes of each contender, and yields one log ratio for each pair.
//! Sets are made until every pair is decided or a budget of time, stated in advance, is spent.
//! Student's t after each set finds differences that do not exist: with up to 20 sets in 23 % of
//! the sessions. So the error is divided in advance. One part is spent by an e-process, which may
//! be looked at after every set; the rest by one last look with Student's t when the budget is
//! spent. By the union bound the two together err with at most the whole.
//!
//! Not for numbers of runs that are decided in advance ([`crate::planner`]). The module knows no
//! clock: the caller says when the budget is spent.

use bakeoff_base::number::length_as_f64 as count;

use crate::distribution::{student_cdf, student_quantile};
use crate::holm;
use crate::log_ratio::{LogRatio, LookedAt};
use crate::power::RELEVANCE;
use crate::sample::{Budget, Interval};
use crate::set_pairs::SetPairs;

/// The allowed errors, and what counts as a difference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sequential {
    /// The chance of any false [`Decision::Different`] in a family, over all looks together, and of
    /// any interval in it that misses the truth: 0.05 = 5 %.
    pub alpha: f64,
    /// The share of `alpha` that is spent on stopping early: 0 = one Student's t when the budget is
    /// spent and nothing before, 1 = the e-process alone.
    pub early_share: f64,
    /// The prior variance of the true log ratio, in variances of a set's log ratio: the size of
    /// differences that the e-process expects. The error is valid for every value; the number of
    /// sets until a decision depends on it.
    pub prior_variance: f64,
    /// The largest log ratio that is too small to matter: ln 1.03.
    pub margin_ln: f64,
    /// Minimum number of sets to stop early. The last look is made after any number.
    pub early_sets_min: usize,
    /// Minimum number of sets to stop early, with two processes of each service per set.
    pub early_sets_min_of_twins: usize,
}

/// The outcome of a look at a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Not sure yet, and more sets may follow.
    GoOn,
    /// The ratio is not 1, which does not say that the difference matters:
    /// [`Look::is_within_margin`].
    Different,
    /// The ratio lies within the margin.
    Equivalent,
    /// Not sure, and the budget is spent.
    Undecided,
}

/// A look at a pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// The outcome. A difference that was found remains one at all later looks, and a ratio within
    /// the margin stays within, unless the sets contradict each other.
    pub decision: Decision,
    /// The interval of the true log ratio; `None` if there are too few sets for one, or no spread,
    /// or if the sets contradict each other. It is valid at all looks together, and together with
    /// those of the other pairs.
    pub interval_ln: Option<Interval>,
    /// Whether the interval lies within the margin. Together with [`Decision::Different`]: there is
    /// a difference, and it is too small to matter.
    pub is_within_margin: bool,
    /// The p-value of equality, valid whenever one stops; 1 if nothing is known.
    pub p_value: f64,
    /// The p-value after Holm's correction for all pairs of the family.
    pub p_adjusted: f64,
}

impl Look {
    /// Returns the interval of the true ratio, from the interval of its logarithm.
    #[must_use]
    pub fn interval(&self) -> Option<Interval> {
        self.interval_ln.map(|ln| Interval {
            low: ln.low.exp(),
            high: ln.high.exp(),
        })
    }
}

/// One-sided p-values of a ratio and a bound, valid whenever one stops.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// The p-value of "the ratio is at most the bound": small if it is significantly above.
    pub at_most: f64,
    /// The p-value of "the ratio is at least the bound": small if it is significantly below.
    pub at_least: f64,
}

impl Default for Sequential {
    /// Returns the error of the other verdicts, 5 %, and their relevance, 3 %. The rest was chosen
    /// by simulation (`examples/sequential.rs`), among sessions of at most 12 sets:
    ///
    /// - A larger share for stopping early takes more power from the last look than it saves sets.
    ///   With 30 %, one-deviation effects are found in 84 % of the sessions (88 % by Student's t
    ///   with the whole error, 79 % with a share of 50 %), and two-deviation effects after 7.8 sets
    ///   on average (7.3).
    /// - A prior variance of 3, 10 or 30 makes little difference. With a smaller one large effects
    ///   take longer if there are many pairs, with a larger one those of about two deviations.
    /// - With two processes of each service in a set, two sets are enough: their differences show
    ///   the noise, too (`examples/twins.rs`).
    /// - Five sets are for noise that is not normal. If each process ends in one of two modes at
    ///   random, few sets are easily all of one mode and agree perfectly: four sets in one of eight
    ///   sessions, five in one of sixteen.
    fn default() -> Self {
        Self {
            alpha: 0.05,
            early_share: 0.3,
            prior_variance: 10.0,
            margin_ln: RELEVANCE.ln_1p(),
            early_sets_min: 5,
            early_sets_min_of_twins: 2,
        }
    }
}

impl Sequential {
    /// Looks at a single pair, given the log ratios of all its sets so far, in order.
    #[must_use]
    pub fn look(&self, sets: &SetPairs, budget: Budget) -> Look {
        let evidence = self.evidence(sets, budget, 1);
        self.decided(&evidence, evidence.p_value, budget)
    }

    /// Looks at all pairs of a family, in the order given. The family is that of the session and
    /// stays the same from look to look; a pair without a log ratio has no sets.
    ///
    /// Differences are decided by Holm's correction at every look, not only at the last. A pair's
    /// p-value never rises while [`Budget::Left`], and the last look only adds to its evidence. So
    /// whatever Holm's procedure rejects early it rejects at the end too, where the p-values are
    /// ordinary ones and any dependence is allowed; Bonferroni's correction of the e-values rejects
    /// less. Intervals, and equivalence with them, have the error of the family divided by the
    /// number of pairs (Bonferroni).
    #[must_use]
    pub fn look_family(&self, pairs: &[SetPairs], budget: Budget) -> Vec<Look> {
        let evidence = pairs
            .iter()
            .map(|sets| self.evidence(sets, budget, pairs.len()));
        let evidence: Vec<Evidence> = evidence.collect();
        let p_values: Vec<f64> = evidence.iter().map(|pair| pair.p_value).collect();
        let adjusted = holm::adjusted(&p_values);
        let both = evidence.iter().zip(adjusted);
        both.map(|(pair, p_adjusted)| self.decided(pair, p_adjusted, budget))
            .collect()
    }

    /// Returns the one-sided p-values of a pair's ratio and a bound, given as a logarithm. They are
    /// divided into shares like those of equality; each is at most α with a chance of α if the
    /// ratio lies at the bound or on the side that the p-value is for.
    #[must_use]
    pub fn p_sides(&self, pair: &SetPairs, bound_ln: f64, budget: Budget) -> Sides {
        let mut sides = [NOTHING_KNOWN; 2];
        let mut add = |p_values: [f64; 2], share| {
            let both = sides.iter_mut().zip(p_values);
            both.for_each(|(side, p_value)| side.add(p_value, share));
        };
        for found in self.early_looks(pair) {
            let t = (found.difference - bound_ln) / found.error;
            let p_value = |t| (-ln_e_value_above(found.looked_at(), t, self.prior_variance)).exp();
            add([p_value(t), p_value(-t)], self.early_share);
        }
        let last = (budget == Budget::Spent).then(|| LogRatio::of_sets(pair));
        if let Some(found) = last.flatten() {
            let bound = bound_ln.exp();
            let p_values = [found.p_at_most(bound), found.p_at_least(bound)];
            add(p_values, 1.0 - self.early_share);
        }
        Sides {
            at_most: sides[0].p_value,
            at_least: sides[1].p_value,
        }
    }

    /// Returns the evidence from all looks at a pair so far, for a family with this number of
    /// pairs.
    ///
    /// The p-value is the smaller one of two, each divided by its share of the error: that of the
    /// e-process, and that of Student's t at the last look (Bonferroni's correction with weights;
    /// Genovese, Roeder and Wasserman, "False Discovery Control with p-value Weighting", Biometrika
    /// 2006). The intervals of all looks are valid together, so their intersection is an interval
    /// too (Howard, Ramdas, McAuliffe and Sekhon, "Time-uniform, Nonparametric, Nonasymptotic
    /// Confidence Sequences", Annals of Statistics 2021).
    ///
    /// Sets that are equal to the last digit mean nothing: they do not show their noise, and would
    /// make anything certain. Neither do sets with a value that is not finite.
    fn evidence(&self, pair: &SetPairs, budget: Budget, pairs: usize) -> Evidence {
        let alpha = self.alpha / count(pairs);
        let mut evidence = NOTHING_KNOWN;
        for found in self.early_looks(pair) {
            let t = found.difference / found.error;
            let p_value = (-ln_e_value(found.looked_at(), t, self.prior_variance)).exp();
            evidence.add(p_value, self.early_share);
            let early = alpha * self.early_share;
            let reach = critical(found.looked_at(), self.prior_variance, early);
            evidence.narrow(&found, reach);
        }
        let last = (budget == Budget::Spent).then(|| LogRatio::of_sets(pair));
        if let Some(found) = last.flatten() {
            let share = 1.0 - self.early_share;
            evidence.add(found.p_equal(), share);
            let reach = student_quantile(1.0 - alpha * share / 2.0, found.exactness().freedom);
            evidence.narrow(&found, reach);
        }
        evidence
    }

    /// Returns the number of sets after which a pair is different or equivalent, if further sets
    /// are like those so far; `None` if that takes more than `most` sets, or nothing is known yet.
    #[must_use]
    pub fn sets_until_decided(&self, pair: &SetPairs, most: usize) -> Option<usize> {
        let found = LogRatio::of_sets(pair)?;
        let is_decided = |sets: &usize| {
            let grown = count(*sets) / count(found.runs);
            let looked_at = LookedAt {
                sets: *sets,
                freedom: found.freedom * grown,
            };
            let early = self.alpha * self.early_share;
            let reach =
                critical(looked_at, self.prior_variance, early) * found.error / grown.sqrt();
            let away = found.difference.abs();
            away > reach || away + reach <= self.margin_ln
        };
        (pair.len() + 1..=most).find(is_decided)
    }

    /// Returns the ratio after each set from which on the session may stop.
    fn early_looks(&self, pair: &SetPairs) -> impl Iterator<Item = LogRatio> {
        let fewest = match pair.has_twins() {
            true => self.early_sets_min_of_twins,
            false => self.early_sets_min,
        };
        (fewest..=pair.len()).filter_map(|sets| LogRatio::of_sets(&pair.up_to(sets)))
    }

    /// Returns the look at a pair with its p-value corrected for the family.
    fn decided(&self, evidence: &Evidence, p_adjusted: f64, budget: Budget) -> Look {
        let Interval { low, high } = evidence.interval_ln;
        let is_within_margin = low <= high && -self.margin_ln <= low && high <= self.margin_ln;
        let decision = match budget {
            // Sets that contradict each other are not from one distribution: there is no valid
            // result.
            Budget::Left if low > high => Decision::GoOn,
            Budget::Spent if low > high => Decision::Undecided,
            _ if p_adjusted <= self.alpha => Decision::Different,
            _ if is_within_margin => Decision::Equivalent,
            Budget::Left => Decision::GoOn,
            Budget::Spent => Decision::Undecided,
        };
        let is_known = low <= high && low.is_finite() && high.is_finite();
        Look {
            decision,
            interval_ln: is_known.then_some(evidence.interval_ln),
            is_within_margin,
            p_value: evidence.p_value,
            p_adjusted,
        }
    }
}

/// The evidence before the first look.
const NOTHING_KNOWN: Evidence = Evidence {
    p_value: 1.0,
    interval_ln: Interval {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    },
};

/// The evidence of all looks at a pair.
#[derive(Clone, Copy)]
struct Evidence {
    p_value: f64,
    /// The intersection of the looks' intervals; `low` is above `high` if it is empty.
    interval_ln: Interval,
}

impl Evidence {
    /// Adds a p-value with this share of the error.
    fn add(&mut self, p_value: f64, share: f64) {
        if share > 0.0 {
            self.p_value = self.p_value.min(p_value / share);
        }
    }

    /// Adds an interval that extends this number of standard errors to both sides.
    fn narrow(&mut self, found: &LogRatio, reach: f64) {
        let Interval { low, high } = &mut self.interval_ln;
        *low = low.max(found.difference - reach * found.error);
        *high = high.min(found.difference + reach * found.error);
    }
}

/// Returns the log e-value for this number of sets whose mean is `t` standard errors away from 0:
/// at most that of `(1 + n g)^((n - 1) / 2)`, for an infinite `t`.
///
/// This is the t test martingale with a normal prior of the effect (Wang and Ramdas, "Anytime-valid
/// t-tests and Confidence Sequences for Gaussian Means with Unknown Variance", Sequential Analysis
/// 2025, arXiv 2310.03722, section 4): the likelihood ratio of the data without their
/// unit. If the true mean is 0 and the noise is normal, the chance that it exceeds
/// 1/α after any number of sets is at most α (Ville 1939). The variance of the prior is in units of
/// the noise's: 10 expects a difference of about three standard deviations of a set.
///
/// Degrees of freedom that twins add are further data without a unit, whose distribution does not
/// depend on the mean, so the same formula applies with more of them. With two unequal variances
/// they are an approximation (Satterthwaite), whose error is simulated (`examples/twins.rs`).
#[must_use]
pub fn ln_e_value(looked_at: LookedAt, t: f64, prior_variance: f64) -> f64 {
    let LookedAt { sets, freedom } = looked_at;
    if sets < 2 || t.is_nan() {
        return 0.0;
    }
    let shrink = count(sets) * prior_variance;
    let square = t * t / freedom;
    // The inverse is finite for every t, as the e-value is.
    let inverse = match square.is_finite() {
        true => (1.0 + square / (1.0 + shrink)) / (1.0 + square),
        false => 1.0 / (1.0 + shrink),
    };
    -0.5 * (shrink.ln_1p() + (freedom + 1.0) * inverse.ln())
}

/// Returns the log e-value for this number of sets against "the true mean is at most 0", whose mean
/// is `t` standard errors away from 0.
///
/// It is that of [`ln_e_value`] with the prior's half above 0 in place of the whole, which is twice
/// the e-value times that half's posterior probability. With the prior of [`ln_e_value`] the mean's
/// posterior is Student's with one degree of freedom more than the variance has (Bernardo and
/// Smith, "Bayesian Theory", 1994, section 5.2). So the e-values of the two sides add up to twice
/// that of both.
///
/// If the true mean is 0 and the noise is normal, the chance that it exceeds 1/α after any number
/// of sets is at most α (Ville 1939). If the true mean is lower, the same noise makes each `t`
/// lower, and a lower `t` has a smaller e-value: then the chance is smaller.
#[must_use]
pub fn ln_e_value_above(looked_at: LookedAt, t: f64, prior_variance: f64) -> f64 {
    let LookedAt { sets, freedom } = looked_at;
    if sets < 2 || t.is_nan() {
        return 0.0;
    }
    let shrink = count(sets) * prior_variance;
    // The inverse of `1 + square / (1 + shrink)` over `square` is finite for every t but 0.
    let square = t * t / freedom;
    let inverse = square.recip() + (1.0 + shrink).recip();
    let of_posterior = freedom + 1.0;
    let mean = t.signum() * (of_posterior * shrink / ((1.0 + shrink) * inverse)).sqrt();
    let above = student_cdf(mean, of_posterior);
    ln_e_value(looked_at, t, prior_variance) + (2.0 * above).ln()
}

/// Returns how many standard errors the interval extends to both sides of the mean over this number
/// of sets: the |t| at which the e-value is 1/α. With it, the intervals after all numbers of sets
/// are valid together with 1 - α (the same source). Infinite if no data make the e-value that
/// large, as with few sets.
#[must_use]
pub fn critical(looked_at: LookedAt, prior_variance: f64, alpha: f64) -> f64 {
    let LookedAt { sets, freedom } = looked_at;
    let spread = 1.0 + count(sets) * prior_variance;
    let ratio = (spread / (alpha * alpha)).powf(1.0 / (freedom + 1.0));
    let rest = 1.0 - ratio / spread;
    match rest > 0.0 {
        true => (freedom * (ratio - 1.0) / rest).sqrt(),
        false => f64::INFINITY,
    }
}

/// Returns the p-value of equality of the e-process alone, which is valid whenever one stops: the
/// inverse of the largest e-value after any number of sets from `early_sets_min` on, at most 1
/// (Ville 1939; Ramdas, Grünwald, Vovk and Shafer, "Game-theoretic Statistics and Safe
/// Anytime-valid Inference", Statistical Science 2023). [`Look::p_value`] is this divided by its
/// share of the error while the budget lasts.
#[must_use]
pub fn p_anytime(sets: &SetPairs, prior_variance: f64, early_sets_min: usize) -> f64 {
    let alone = Sequential {
        early_share: 1.0,
        prior_variance,
        early_sets_min,
        ..Sequential::default()
    };
    alone.evidence(sets, Budget::Left, 1).p_value
}
