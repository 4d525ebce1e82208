//! Comparisons of contenders: one with each of the others as sentences, so that every document
//! says the same, and everyone with everyone as a matrix.

use bakeoff_stats::{Comparison, Criteria, Sample, Verdict, compare};

use super::row::Row;
use crate::number::{counted, range, ratio_text};

/// The best against one of the others, in parts so that documents can set them apart.
#[derive(Debug, Clone, PartialEq)]
pub struct Conclusion {
    /// The best.
    pub first: String,
    /// What it does: `serves 1.62 times the requests per second of`.
    pub middle: String,
    /// The other.
    pub second: String,
    /// The interval and the runs behind it.
    pub detail: String,
    /// What it takes for it: CPU per request, where it is known.
    pub price: String,
    /// What it comes to.
    pub verdict: Verdict,
}

impl Conclusion {
    /// The whole sentence as plain text, without a full stop.
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

/// The first row against each of the others, by requests per second.
pub(crate) fn throughput_conclusions(rows: &[Row]) -> Vec<Conclusion> {
    let Some(best) = rows.first() else {
        return Vec::new();
    };
    let rest = rows.iter().skip(1);
    rest.filter_map(|row| {
        let inverse = inverted(row.against_best.as_ref()?);
        let middle = match inverse.verdict {
            Verdict::Equivalent => "serves as many requests per second as".to_owned(),
            _ => format!(
                "serves {} times the requests per second of",
                ratio_text(inverse.ratio.point)
            ),
        };
        let cpu = row.cpu_against_best.as_ref().map(inverted);
        Some(Conclusion {
            first: best.label.clone(),
            middle,
            second: row.label.clone(),
            detail: detail(&inverse, "run"),
            price: cpu.as_ref().map_or_else(String::new, price),
            verdict: inverse.verdict,
        })
    })
    .collect()
}

/// `with 0.35 times the CPU per request`; empty when it is inconclusive.
fn price(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Equivalent => "with as much CPU per request".to_owned(),
        Verdict::Faster | Verdict::Slower => {
            let ratio = ratio_text(comparison.ratio.point);
            format!("with {ratio} times the CPU per request")
        }
        Verdict::Inconclusive => String::new(),
    }
}

/// `(95 %: 2.12–2.20, 4 runs)`, or why there is no interval. `unit` is what is repeated.
pub(crate) fn detail(comparison: &Comparison, unit: &str) -> String {
    let runs = comparison.ratio.runs;
    let range = range(&comparison.ratio);
    match (range.is_empty(), runs) {
        (true, 1) => format!("(one {unit}, no interval)"),
        (true, _) => "(no interval)".to_owned(),
        (false, _) => format!("(95 %: {range}, {})", counted(runs, unit)),
    }
}

/// Second over first instead of first over second.
pub(crate) fn inverted(comparison: &Comparison) -> Comparison {
    let mut inverse = *comparison;
    inverse.ratio.point = 1.0 / comparison.ratio.point;
    if let Some(interval) = inverse.ratio.interval.as_mut() {
        (interval.low, interval.high) = (1.0 / interval.high, 1.0 / interval.low);
    }
    inverse.verdict = match comparison.verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        same => same,
    };
    inverse
}

/// Every row of a table against every other by one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// The metric.
    pub title: &'static str,
    /// Row against column; `None` on the diagonal and where one of them lacks the metric.
    pub cells: Vec<Vec<Option<Comparison>>>,
}

impl Matrix {
    pub(crate) fn new(
        title: &'static str,
        samples: impl Iterator<Item = Option<Sample>>,
        criteria: &Criteria,
    ) -> Self {
        let samples: Vec<Option<Sample>> = samples.collect();
        let mut cells = vec![vec![None; samples.len()]; samples.len()];
        // The other half says the same the other way round.
        for (row, first) in samples.iter().enumerate() {
            for (column, second) in samples.iter().enumerate().skip(row + 1) {
                let found = first.as_ref().zip(second.as_ref());
                let found = found.map(|(first, second)| compare(first, second, criteria));
                cells[row][column] = found;
                cells[column][row] = found.as_ref().map(inverted);
            }
        }
        Self { title, cells }
    }
}
