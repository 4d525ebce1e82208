//! Conclusions as sentences.

use bakeoff_stats::{Estimate, Verdict};

use crate::benchmarks::capacity::CapacitySummary;
use crate::benchmarks::startup::StartupSummary;
use crate::data::number::{range, ratio_text, significant};
use crate::data::row::Row;
use crate::tables::comparison::detail;
use crate::tables::control::VOID;
use crate::tables::lower_bounds::LowerBound;
use crate::tables::summary::{BenchmarkSummary, RankTable};

/// Maximum number of names listed; more are counted.
const NAMES_MAX: usize = 3;

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TextSpan {
    /// The label of a contender.
    Name(String),
    /// A number that the sentence states.
    Number(String),
    /// Other text.
    Text(String),
}

impl TextSpan {
    /// Returns the span as plain text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Name(text) | Self::Number(text) | Self::Text(text) => text,
        }
    }
}

fn name(label: &str) -> TextSpan {
    TextSpan::Name(label.to_owned())
}

fn text(text: impl Into<String>) -> TextSpan {
    TextSpan::Text(text.into())
}

pub(super) fn of_load(summary: &BenchmarkSummary, at: &str) -> Vec<TextSpan> {
    let by_cpu = summary.by_cpu.iter();
    let mut parts: Vec<TextSpan> = by_cpu
        .map(|found| text(format!("{} ", found.sentence())))
        .collect();
    parts.extend(by_requests(summary, at));
    parts
}

fn by_requests(summary: &BenchmarkSummary, at: &str) -> Vec<TextSpan> {
    let Some(table) = summary.tables.first() else {
        return vec![text(match summary.unranked.is_empty() {
            true => "Nothing was measured.",
            false => "No contender has a number that can be ranked.",
        })];
    };
    let Some(best) = table.rows.first() else {
        return Vec::new();
    };
    let higher = summary.lower_bounds.iter().filter(|one| one.is_higher());
    let higher: Vec<&LowerBound> = higher.collect();
    let mut parts = peak(table, best, higher.is_empty());
    parts.extend(bounded(&higher));
    if summary.control.is_void() {
        parts.push(text(format!(" But that is {VOID}.")));
    }
    parts.extend(cheapest(table, best, at));
    if !table.verdict.ranks() {
        parts.push(text(format!(" {}.", table.title)));
    }
    parts
}

/// Says which contender serves the most, and by how much more than the next one that serves
/// significantly less.
fn peak(table: &RankTable, best: &Row, is_most: bool) -> Vec<TextSpan> {
    let tied = table.rows.iter().skip(1);
    let tied: Vec<&str> = tied
        .filter(|row| row.standing.rank == best.standing.rank)
        .map(|row| row.label.as_str())
        .collect();
    if let Some(other) = equal_to(table).filter(|_| is_most) {
        let mut parts = vec![name(&best.label), text(" and "), name(&other.label)];
        parts.push(text(" serve as many: "));
        parts.extend(quoted(&best.peak.throughput.estimate, "requests/s"));
        parts.push(text(" and "));
        parts.extend(quoted(&other.peak.throughput.estimate, "requests/s"));
        parts.push(text("."));
        return parts;
    }
    let mut parts = vec![name(&best.label)];
    parts.push(text(match (is_most, tied.is_empty()) {
        (true, true) => " serves the most: ",
        (true, false) => " serves the most on average, ",
        (false, true) => " has the highest number that is fair: ",
        (false, false) => " has the highest average that is fair, ",
    }));
    parts.extend(quoted(&best.peak.throughput.estimate, "requests/s"));
    if !tied.is_empty() {
        parts.push(text(", not significantly different from "));
        parts.extend(names(&tied));
    }
    let next = table
        .rows
        .iter()
        .find(|row| row.standing.rank > best.standing.rank);
    if let Some((row, found)) = next.and_then(|row| Some((row, row.standing.throughput?))) {
        let found = found.inverse();
        parts.push(text(". It serves significantly more than "));
        parts.push(name(&row.label));
        parts.push(text(": "));
        parts.push(TextSpan::Number(format!(
            "{} times",
            ratio_text(found.ratio.point)
        )));
        parts.push(text(format!(" as much {}", detail(&found, best.unit()))));
    }
    parts.push(text("."));
    parts
}

/// The other one of two contenders that serve as many requests.
fn equal_to(table: &RankTable) -> Option<&Row> {
    let [_, other] = table.rows.as_slice() else {
        return None;
    };
    let found = other.standing.throughput.as_ref()?;
    (found.verdict == Verdict::Equivalent).then_some(other)
}

/// Says which contenders serve more although another part limited them: the highest with its lead.
fn bounded(higher: &[&LowerBound]) -> Vec<TextSpan> {
    let Some((first, rest)) = higher.split_first() else {
        return Vec::new();
    };
    let others = match rest.len() {
        0 => String::new(),
        1 => "; 1 more serves more as well".to_owned(),
        several => format!("; {several} more serve more as well"),
    };
    vec![
        text(" But "),
        name(&first.label),
        text(" serves "),
        TextSpan::Number(first.at_least()),
        text(format!(
            " as much {}: it is {}, so its number is a lower bound{others}.",
            first.detail(),
            first.validity
        )),
    ]
}

/// Says which contender uses the least CPU per request.
fn cheapest(table: &RankTable, best: &Row, at: &str) -> Vec<TextSpan> {
    let rows = table.rows.iter().enumerate();
    let priced = rows.filter_map(|(place, row)| Some((place, row, row.stated.cpu_us.as_ref()?)));
    let least = priced.min_by(|a, b| a.2.mean().total_cmp(&b.2.mean()));
    let Some((place, row, cpu)) = least.filter(|_| table.rows.len() > 1) else {
        return Vec::new();
    };
    let like = table.rows.iter().enumerate().filter(|(other, row)| {
        let found = table.cpu_matrix.pairs.get(*other, place);
        let found = found.map(|found| found.verdict);
        row.stated.cpu_us.is_some()
            && matches!(found, Some(Verdict::Inconclusive | Verdict::Equivalent))
    });
    let like: Vec<&str> = like.map(|(_, row)| row.label.as_str()).collect();
    let mut parts = vec![text(" Lowest CPU per request: ")];
    if row.label == best.label {
        parts.push(text("also "));
    }
    parts.push(name(&row.label));
    parts.push(text(", "));
    parts.extend(quoted(&cpu.estimate, &format!("µs {at}")));
    if !like.is_empty() {
        parts.push(text(", not significantly different from "));
        parts.extend(names(&like));
    }
    parts.push(text("."));
    parts
}

pub(super) fn of_startup(summary: &StartupSummary) -> Vec<TextSpan> {
    let Some(best) = summary.rows.first() else {
        return vec![text("No contender started.")];
    };
    let tied = summary.rows.iter().skip(1);
    let tied = tied.filter(|row| row.rank == best.rank);
    let tied: Vec<&str> = tied.map(|row| row.label.as_str()).collect();
    let mut parts = vec![name(&best.label), text(" starts fastest: ")];
    parts.extend(quoted(&best.startup_s, "s until its first response"));
    also(&mut parts, &tied);
    if let Some(last) = summary.rows.last().filter(|row| row.rank > best.rank) {
        parts.push(text("; the slowest, "));
        parts.push(name(&last.label));
        parts.push(text(format!(
            ", takes {} s",
            significant(last.startup_s.point)
        )));
    }
    parts.push(text("."));
    parts
}

pub(super) fn of_capacity(summary: &CapacitySummary) -> Vec<TextSpan> {
    let Some(table) = summary.tables.first() else {
        return vec![text("Nothing was measured.")];
    };
    let Some(best) = table.rows.first() else {
        return vec![text(format!("No contender meets {}.", table.objective))];
    };
    let tied = table.rows.iter().skip(1);
    let tied = tied.filter(|row| row.rank == best.rank);
    let tied: Vec<&str> = tied.map(|row| row.label.as_str()).collect();
    let mut parts = vec![name(&best.label), text(" sustains the highest rate: ")];
    parts.extend(quoted(&best.rate, "requests/s"));
    parts.push(text(format!(" with {}", table.objective)));
    also(&mut parts, &tied);
    parts.push(text("."));
    parts
}

fn also(parts: &mut Vec<TextSpan>, tied: &[&str]) {
    if !tied.is_empty() {
        parts.push(text(", not significantly different from "));
        parts.extend(names(tied));
    }
}

/// Quotes an estimate: `41221 requests/s (95 %: 38129–44312)`.
fn quoted(estimate: &Estimate, unit: &str) -> [TextSpan; 2] {
    let interval = match range(estimate) {
        range if range.is_empty() => "one run, no interval".to_owned(),
        range => format!("95 %: {range}"),
    };
    let number = TextSpan::Number(format!(
        "{} {}",
        significant(estimate.point),
        unit.trim_end()
    ));
    [number, text(format!(" ({interval})"))]
}

/// Lists names: `a, b and c`, or `a, b and 4 more`.
fn names(labels: &[&str]) -> Vec<TextSpan> {
    let shown = match labels.len() {
        all if all <= NAMES_MAX => all,
        _ => NAMES_MAX - 1,
    };
    let mut parts = Vec::new();
    for (place, label) in labels.iter().take(shown).enumerate() {
        if place > 0 {
            let is_last = place + 1 == labels.len();
            parts.push(text(if is_last { " and " } else { ", " }));
        }
        parts.push(name(label));
    }
    if shown < labels.len() {
        parts.push(text(format!(" and {} more", labels.len() - shown)));
    }
    parts
}
