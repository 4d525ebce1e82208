//! Numbers limited by another part than the contender, compared with the best fair one. Such a
//! number is a lower bound of the contender's capability, so if it is significantly higher than a
//! fair number, its contender serves more, by at least that much. If it is not higher, nothing
//! follows: without the bottleneck it might be.

use bakeoff_model::validity::FairnessVerdict as Validity;
use bakeoff_stats::{Better, Comparison, Criteria, Verdict, compare_family};

use super::comparison::detail;
use crate::data::number::{enumerated, ratio_text};
use crate::data::row::Row;

/// Maximum number of names listed; more are counted.
const NAMES_MAX: usize = 3;

/// A bounded number compared with the best fair one.
#[derive(Debug, Clone, PartialEq)]
pub struct LowerBound {
    /// The contender whose number is a lower bound.
    pub label: String,
    /// The reason why it is a lower bound.
    pub validity: Validity,
    /// The first contender of the fair ranks.
    pub best: String,
    /// Throughput over the throughput of the best fair contender.
    pub comparison: Comparison,
    /// The unit of repetition: `run`, or `set`.
    pub unit: &'static str,
}

impl LowerBound {
    /// Whether the contender serves more than the best fair one.
    #[must_use]
    pub fn is_higher(&self) -> bool {
        self.comparison.verdict == Verdict::Faster
    }

    /// Returns the ratio as text: `at least 2.31 times`.
    pub fn at_least(&self) -> String {
        format!("at least {} times", ratio_text(self.comparison.ratio.point))
    }

    /// Returns the interval as text: `(95 %: 2.20–2.42, 5 runs)`.
    pub fn detail(&self) -> String {
        detail(&self.comparison, self.unit)
    }

    /// Returns the reason as text: `b is host-bound, so its number is a lower bound`.
    pub fn because(&self) -> String {
        let (label, validity) = (&self.label, self.validity);
        format!("{label} is {validity}, so its number is a lower bound")
    }
}

/// Compares every bounded row with the best fair one, the highest first: one family of comparisons.
pub(super) fn of(best: &Row, bounded: &[&Row]) -> Vec<LowerBound> {
    let higher = Criteria::new(Better::Higher);
    let reference = &best.peak.throughput.sample;
    let pairs: Vec<_> = bounded
        .iter()
        .map(|row| (&row.peak.throughput.sample, reference, higher))
        .collect();
    let found = compare_family(&pairs).into_iter();
    let mut bounds: Vec<LowerBound> = bounded
        .iter()
        .zip(found)
        .map(|(row, comparison)| LowerBound {
            label: row.label.clone(),
            validity: row.validity().verdict(),
            best: best.label.clone(),
            comparison,
            unit: row.unit(),
        })
        .collect();
    let ratio = |one: &LowerBound| one.comparison.ratio.point;
    bounds.sort_by(|a, b| ratio(b).total_cmp(&ratio(a)));
    bounds
}

/// Returns the conclusions from the lower bounds of a table for the best fair contender: a sentence
/// about each that is higher, and one about the rest.
pub fn sentences<'b>(bounds: impl Iterator<Item = &'b LowerBound>) -> Vec<String> {
    let (higher, rest): (Vec<&LowerBound>, Vec<&LowerBound>) =
        bounds.partition(|one| one.is_higher());
    let sentence = |one: &&LowerBound| {
        let (label, best) = (&one.label, &one.best);
        let (at_least, detail, because) = (one.at_least(), one.detail(), one.because());
        format!("{label} serves {at_least} as much as {best} {detail}: {because}.")
    };
    let mut sentences: Vec<String> = higher.iter().map(sentence).collect();
    if let Some(first) = rest.first() {
        let mut names: Vec<String> = rest.iter().map(|one| one.label.clone()).collect();
        if names.len() > NAMES_MAX {
            let more = names.len() - (NAMES_MAX - 1);
            names.truncate(NAMES_MAX - 1);
            names.push(format!("{more} more"));
        }
        sentences.push(format!(
            "Whether {} can serve more than {} is not known: a lower bound shows it only where it \
             is significantly higher.",
            enumerated(&names),
            first.best
        ));
    }
    sentences
}
