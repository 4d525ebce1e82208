//! Comparisons of contenders by one metric: the ratio, its interval and the verdict, for two or for
//! all pairs of a table.

use crate::holm;
use crate::log_ratio::{self, LogRatio, Method, is_ratio};
use crate::power::{Exactness, RELEVANCE};
use crate::sample::{Estimate, Interval, Sample};
use crate::sequential::{Look, Sequential};

/// The better direction of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// More is better: requests per second.
    Higher,
    /// Less is better: times, CPU, memory.
    Lower,
}

/// The outcome of a comparison of the first with the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Better: significantly different, and by the point estimate by enough to matter.
    Faster,
    /// Worse, in the same sense.
    Slower,
    /// Significantly too close to matter.
    Equivalent,
    /// No significant difference: the runs show none of these, or there is no basis for a verdict.
    Inconclusive,
    /// Any verdict, void because the session's control differed significantly from its twin.
    Void,
}

impl Verdict {
    /// Returns the verdict as written in files and texts.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Faster => "faster",
            Self::Slower => "slower",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
            Self::Void => "void",
        }
    }

    /// Returns the verdict on the second against the first.
    #[must_use]
    pub fn inverse(self) -> Self {
        match self {
            Self::Faster => Self::Slower,
            Self::Slower => Self::Faster,
            same => same,
        }
    }
}

/// The limits of "significant" and "relevant".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Criteria {
    /// The better direction.
    pub better: Better,
    /// Confidence of each interval, and of all verdicts "faster" and "slower" in a family together:
    /// 0.95 = 95 %.
    pub confidence: f64,
    /// The smallest relevant difference: 0.03 = 3 %.
    pub relevance: f64,
}

impl Criteria {
    /// Returns 95 % confidence and 3 % relevance.
    #[must_use]
    pub fn new(better: Better) -> Self {
        Self {
            better,
            confidence: 0.95,
            relevance: RELEVANCE,
        }
    }
}

/// A comparison of the first sample with the second.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// Ratio of the geometric means, first over second, with the interval of this comparison alone.
    /// Without an interval it is the ratio of the means, or not a number; for sets always over
    /// those in common.
    pub ratio: Estimate,
    /// The method of the comparison.
    pub method: Method,
    /// The precision of the comparison; `None` without an interval.
    pub exactness: Option<Exactness>,
    /// Two-sided p-value of equality, of this comparison alone.
    pub p_value: Option<f64>,
    /// The p-value after the correction for all comparisons of the family, on which the verdict is
    /// based.
    pub p_adjusted: Option<f64>,
    /// The outcome.
    pub verdict: Verdict,
}

impl Comparison {
    /// Returns the comparison of the second sample with the first.
    #[must_use]
    pub fn inverse(&self) -> Self {
        let mut inverse = *self;
        inverse.ratio.point = 1.0 / self.ratio.point;
        if let Some(interval) = inverse.ratio.interval.as_mut() {
            (interval.low, interval.high) = (1.0 / interval.high, 1.0 / interval.low);
        }
        inverse.verdict = self.verdict.inverse();
        inverse
    }
}

/// Compares `first` with `second`, a family of one comparison.
///
/// Uses pairs if both have at least [`crate::log_ratio::PAIRED_BLOCKS_MIN`] blocks in common or are
/// sets, else Welch's t. With one run on a side, one set in common, or without a ratio, the verdict
/// is inconclusive.
#[must_use]
pub fn compare(first: &Sample, second: &Sample, criteria: &Criteria) -> Comparison {
    let found = JudgedRatio::of(first, second);
    let p_value = found.map(|found| found.p_equal());
    comparison(first, second, found.as_ref(), p_value, criteria)
}

/// Compares the first with the second of each pair: one family, in which the chance of any false
/// "faster" or "slower" is at most 5 %.
#[must_use]
pub fn compare_family(pairs: &[(&Sample, &Sample, Criteria)]) -> Vec<Comparison> {
    let found = pairs.iter().map(|pair| JudgedRatio::of(pair.0, pair.1));
    let found: Vec<Option<JudgedRatio>> = found.collect();
    let values: Vec<f64> = found.iter().flatten().map(JudgedRatio::p_equal).collect();
    let mut adjusted = holm::adjusted(&values).into_iter();
    let both = pairs.iter().zip(&found);
    both.map(|((first, second, criteria), found)| {
        let p_adjusted = found.and_then(|_| adjusted.next());
        comparison(first, second, found.as_ref(), p_adjusted, criteria)
    })
    .collect()
}

/// The ratio of two samples, with a look at it if the number of sets was decided by looking.
#[derive(Debug, Clone, Copy)]
struct JudgedRatio {
    ratio: LogRatio,
    look: Option<Look>,
}

impl JudgedRatio {
    fn of(first: &Sample, second: &Sample) -> Option<Self> {
        let ratio = LogRatio::of(first, second)?;
        let budget = first.looks_with(second);
        let looked = budget.zip(log_ratio::set_pairs(first, second));
        let rule = Sequential::default();
        Some(Self {
            ratio,
            look: looked.map(|(budget, pairs)| rule.look(&pairs, budget)),
        })
    }

    fn p_equal(&self) -> f64 {
        match self.look {
            Some(look) => look.p_value,
            None => self.ratio.p_equal(),
        }
    }

    fn interval(&self, confidence: f64) -> Option<Interval> {
        match self.look {
            Some(look) => look.interval(),
            None => self.ratio.interval(confidence),
        }
    }

    /// Returns the verdict. Different: the p-value, corrected for the family, is at most 5 %.
    /// Relevant: the point is outside `1/(1+r)..=1+r`. Equivalent: two one-sided tests at 5 %, so
    /// that the 90 % interval is inside. If the number of sets was decided by looking, they are
    /// enough to find small differences, and every significant one is relevant.
    fn verdict(&self, p_adjusted: f64, criteria: &Criteria) -> Verdict {
        let error = 1.0 - criteria.confidence;
        let point = self.ratio.point();
        let (is_equivalent, is_relevant) = match self.look {
            Some(look) => (look.is_within_margin && p_adjusted > error, true),
            None => (
                self.ratio.p_different(criteria.relevance) <= error,
                point.ln().abs() > criteria.relevance.ln_1p(),
            ),
        };
        if is_equivalent {
            return Verdict::Equivalent;
        }
        if p_adjusted > error || !is_relevant {
            return Verdict::Inconclusive;
        }
        match (point > 1.0, criteria.better) {
            (true, Better::Higher) | (false, Better::Lower) => Verdict::Faster,
            (true, Better::Lower) | (false, Better::Higher) => Verdict::Slower,
        }
    }
}

fn comparison(
    first: &Sample,
    second: &Sample,
    found: Option<&JudgedRatio>,
    p_adjusted: Option<f64>,
    criteria: &Criteria,
) -> Comparison {
    let (point, runs) = match found {
        Some(found) => (found.ratio.point(), found.ratio.runs),
        None => log_ratio::without_spread(first, second),
    };
    let point = if is_ratio(point) { point } else { f64::NAN };
    Comparison {
        ratio: Estimate {
            point,
            interval: found.and_then(|found| found.interval(criteria.confidence)),
            runs,
        },
        method: found.map_or(Method::None, |found| found.ratio.method),
        exactness: found.map(|found| found.ratio.exactness()),
        p_value: found.map(JudgedRatio::p_equal),
        p_adjusted,
        verdict: found.zip(p_adjusted).map_or(Verdict::Inconclusive, |both| {
            both.0.verdict(both.1, criteria)
        }),
    }
}

/// Comparisons of every sample of a table with every other: one family, in which the chance of any
/// false "faster" or "slower" is at most 5 %.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairs {
    /// First against second; `None` on the diagonal and if one has no sample.
    cells: Vec<Vec<Option<Comparison>>>,
}

impl Pairs {
    /// Compares all pairs; `None` stands for a contender without a sample.
    #[must_use]
    pub fn new(samples: &[Option<&Sample>], criteria: &Criteria) -> Self {
        let mut pairs = Vec::new();
        for (row, first) in samples.iter().enumerate() {
            for (column, second) in samples.iter().enumerate().skip(row + 1) {
                if let Some((first, second)) = first.zip(*second) {
                    pairs.push((row, column, first, second, JudgedRatio::of(first, second)));
                }
            }
        }
        // A pair without a p-value cannot be called different, so it is not part of the family.
        let values = pairs.iter().filter_map(|pair| Some(pair.4?.p_equal()));
        let mut adjusted = holm::adjusted(&values.collect::<Vec<f64>>()).into_iter();
        let mut cells = vec![vec![None; samples.len()]; samples.len()];
        for (row, column, first, second, found) in pairs {
            let p_adjusted = found.and_then(|_| adjusted.next());
            let found = comparison(first, second, found.as_ref(), p_adjusted, criteria);
            cells[row][column] = Some(found);
            // The other half is the inverse.
            cells[column][row] = Some(found.inverse());
        }
        Self { cells }
    }

    /// Returns the same pairs with all verdicts void.
    #[must_use]
    pub fn void(mut self) -> Self {
        for found in self.cells.iter_mut().flatten().flatten() {
            found.verdict = Verdict::Void;
        }
        self
    }

    /// Returns the comparison of the first with the second.
    #[must_use]
    pub fn get(&self, first: usize, second: usize) -> Option<&Comparison> {
        self.cells.get(first)?.get(second)?.as_ref()
    }

    /// Returns the number of pairs that have a p-value: the size of the family.
    #[must_use]
    pub fn compared(&self) -> usize {
        let cells = self.cells.iter().flatten().flatten();
        cells.filter(|found| found.p_value.is_some()).count() / 2
    }

    /// Returns all comparisons: `cells()[first][second]`.
    #[must_use]
    pub fn cells(&self) -> &[Vec<Option<Comparison>>] {
        &self.cells
    }
}
