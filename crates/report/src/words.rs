//! Comparisons as sentences, so that every document says the same.

use bakeoff_stats::{Comparison, Verdict};

use crate::number::{figures, range};
use crate::startup::StartRow;
use crate::summary::RankTable;

/// One sentence of the answer, in parts so that documents can set them apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) first: String,
    pub(crate) middle: String,
    pub(crate) second: String,
    pub(crate) detail: String,
    /// What it takes for it: CPU per request, where it is known.
    pub(crate) price: String,
    /// `faster`, `equivalent`, `inconclusive`, ...: also the style of the line.
    pub(crate) verdict: &'static str,
}

impl Answer {
    pub(crate) fn plain(&self) -> String {
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
        format!("{first} {middle} {second} {detail}: {verdict}{price}")
    }
}

/// The best of the table against each of the others, by requests per second.
pub(crate) fn answers(table: &RankTable) -> Vec<Answer> {
    let Some(best) = table.rows.first() else {
        return Vec::new();
    };
    let rest = table.rows.iter().skip(1);
    rest.filter_map(|row| {
        let inverse = inverted(row.against_best.as_ref()?);
        Some(Answer {
            first: best.label.clone(),
            middle: throughput_words(&inverse),
            second: row.label.clone(),
            detail: detail(&inverse),
            price: row
                .cpu_against_best
                .as_ref()
                .map(inverted)
                .as_ref()
                .map_or_else(String::new, price),
            verdict: inverse.verdict.name(),
        })
    })
    .collect()
}

/// The fastest start against each of the others.
pub(crate) fn startup_answers(rows: &[StartRow]) -> Vec<Answer> {
    let Some(best) = rows.first() else {
        return Vec::new();
    };
    let rest = rows.iter().skip(1);
    rest.filter_map(|row| {
        let inverse = inverted(row.against_best.as_ref()?);
        let middle = match inverse.verdict {
            Verdict::Equivalent => "starts as fast as".to_owned(),
            _ => format!(
                "starts in {} times the time of",
                ratio_figures(inverse.ratio.point)
            ),
        };
        Some(Answer {
            first: best.label.clone(),
            middle,
            second: row.label.clone(),
            detail: detail_of(&inverse, "start"),
            price: String::new(),
            verdict: inverse.verdict.name(),
        })
    })
    .collect()
}

fn throughput_words(comparison: &Comparison) -> String {
    let ratio = comparison.ratio.point;
    match comparison.verdict {
        Verdict::Equivalent => "serves as many requests per second as".to_owned(),
        _ => format!(
            "serves {} times the requests per second of",
            ratio_figures(ratio)
        ),
    }
}

/// `with 0.35 times the CPU per request`; empty when the runs do not tell.
fn price(comparison: &Comparison) -> String {
    match comparison.verdict {
        Verdict::Equivalent => "with as much CPU per request".to_owned(),
        Verdict::Faster | Verdict::Slower => {
            let ratio = ratio_figures(comparison.ratio.point);
            format!("with {ratio} times the CPU per request")
        }
        Verdict::Inconclusive => String::new(),
    }
}

/// `(95 %: 2.12–2.20, 4 runs)`, or why there is no interval.
pub(crate) fn detail(comparison: &Comparison) -> String {
    detail_of(comparison, "run")
}

/// The same with another word for a run.
fn detail_of(comparison: &Comparison, unit: &str) -> String {
    let runs = comparison.ratio.runs;
    let range = range(&comparison.ratio);
    match (range.is_empty(), runs) {
        (true, 1) => format!("(one {unit}, no interval)"),
        (true, _) => "(no interval)".to_owned(),
        (false, _) => format!("(95 %: {range}, {runs} {unit}s)"),
    }
}

/// A ratio near one needs the figures after the point: `1.03`.
pub(crate) fn ratio_figures(ratio: f64) -> String {
    if (0.1..10.0).contains(&ratio) {
        format!("{ratio:.2}")
    } else {
        figures(ratio)
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
