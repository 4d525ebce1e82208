//! Comparisons of contenders: one with each of the others as sentences, so that every document says
//! the same, and all pairs as a matrix.

use bakeoff_stats::{Comparison, Criteria, Pairs, Ranked, Sample, Tie, Verdict, rank};

use crate::data::number::{counted, range, ratio_text};
use crate::data::row::Row;

/// A comparison of the best with one of the others, in parts so that documents can format them.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The best contender.
    pub first: String,
    /// The verb: `serves 1.62 times the requests per second of`.
    pub middle: String,
    /// The other contender.
    pub second: String,
    /// The interval and the runs behind it.
    pub detail: String,
    /// Cost of the best: CPU per request, if known.
    pub price: String,
    /// The verdict.
    pub verdict: Verdict,
}

impl Conclusion {
    /// Returns the whole sentence as plain text, without a full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self {
            first,
            middle,
            second,
            detail,
            price,
            verdict,
        } = self;
        let price = if price.is_empty() {
            String::new()
        } else {
            format!("; {price}")
        };
        let verdict = verdict.name();
        format!("{first} {middle} {second} {detail}: {verdict}{price}")
    }
}

/// Compares the first row with each of the others, by requests per second; `at` is the stated step.
pub fn throughput_conclusions(rows: &[Row], at: &str) -> Vec<Conclusion> {
    let Some(best) = rows.first() else {
        return Vec::new();
    };
    let rest = rows.iter().skip(1);
    rest.filter_map(|row| {
        let found = row.standing.throughput?;
        // Without a ratio there is no sentence.
        let inverse = found.ratio.point.is_finite().then(|| found.inverse())?;
        let middle = match inverse.verdict {
            Verdict::Equivalent => "serves as many requests per second as".to_owned(),
            _ => format!(
                "serves {} times the requests per second of",
                ratio_text(inverse.ratio.point)
            ),
        };
        let cpu = row.standing.cpu.as_ref().map(Comparison::inverse);
        Some(Conclusion {
            first: best.label.clone(),
            middle,
            second: row.label.clone(),
            detail: detail(&inverse, best.unit()),
            price: cpu.map_or_else(String::new, |cpu| price(&cpu, at)),
            verdict: inverse.verdict,
        })
    })
    .collect()
}

/// Returns the cost: `with 0.35 times the CPU per request at 64 connections`; empty if it is
/// inconclusive.
fn price(comparison: &Comparison, at: &str) -> String {
    match comparison.verdict {
        Verdict::Equivalent => format!("with as much CPU per request {at}"),
        Verdict::Faster | Verdict::Slower => {
            let ratio = ratio_text(comparison.ratio.point);
            format!("with {ratio} times the CPU per request {at}")
        }
        Verdict::Inconclusive | Verdict::Void => String::new(),
    }
}

/// Returns the interval, `(95 %: 2.12–2.20, 4 runs)`, or why there is none. `unit` is the unit of
/// repetition.
pub fn detail(comparison: &Comparison, unit: &str) -> String {
    let runs = comparison.ratio.runs;
    let range = range(&comparison.ratio);
    match (range.is_empty(), runs) {
        (true, 1) => format!("(one {unit}, no interval)"),
        (true, _) => "(no interval)".to_owned(),
        (false, _) => format!("(95 %: {range}, {})", counted(runs, unit)),
    }
}

/// Returns the samples in order with ranks: all pairs are one family.
pub fn ranked<'s>(samples: impl Iterator<Item = &'s Sample>, criteria: &Criteria) -> Vec<Ranked> {
    let samples: Vec<&Sample> = samples.collect();
    let all: Vec<Option<&Sample>> = samples.iter().copied().map(Some).collect();
    rank(&samples, &Pairs::new(&all, criteria), criteria)
}

/// Returns a rank as text: `3`, `1=` for one not significantly different from another of its rank,
/// `1≈` for one equivalent to the others, and a dash for one without a rank.
pub fn rank_text(rank: Option<usize>, tie: Tie) -> String {
    let Some(rank) = rank else {
        return "–".to_owned();
    };
    let sign = match tie {
        Tie::Alone => "",
        Tie::Unknown => "=",
        Tie::Equivalent => "≈",
    };
    format!("{rank}{sign}")
}

/// Comparisons of every row of a table with every other by one metric: one family.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The metric.
    pub title: String,
    /// Row against column; none on the diagonal and if one of them lacks the metric.
    pub pairs: Pairs,
}
