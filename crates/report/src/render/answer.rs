//! The answer of a session in a few lines of a terminal, the verdict first. The report has the
//! rest.

use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::number::{counted, enumerated, range, ratio_text};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::explain::reasons::Reasons;
use bakeoff_analysis::tables::control;
use bakeoff_analysis::tables::summary::{BenchmarkSummary, RankTable};
use bakeoff_stats::Estimate;

use super::sentence;
use super::terminal::wrap::{WIDTH_MIN, wrap};

/// The sentence on the two best of the first benchmark, why their CPU per request differs, how
/// their response times compare, and how much can be built on it: up to ten lines of 80 columns.
/// Ends with a line break.
#[must_use]
pub fn terminal_answer(analysis: &Analysis<'_>, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut text = String::new();
    wrap(&mut text, "", &sentence::sentence(analysis), width);
    let Some(load) = analysis.loads.first() else {
        return text;
    };
    push(&mut text, &load.summary, width);
    text
}

/// Why the CPU per request of the two best differs, how their response times compare, what failed,
/// and how much can be built on it.
pub(super) fn push(text: &mut String, summary: &BenchmarkSummary, width: usize) {
    if let Some(table) = summary.tables.first() {
        let reasons = table.reasons_of_two_best();
        if let Some(reasons) = reasons.and_then(Reasons::cpu_sentence) {
            wrap(text, "why: ", &reasons, width);
        }
        if let Some(times) = times(table) {
            wrap(text, "latency ", &times, width);
        }
    }
    for failure in &summary.failures {
        let head = format!("failed: {} {}: ", failure.label, failure.runs_text());
        let (stage, message, log) = (&failure.stage, &failure.message, failure.log_text());
        wrap(text, &head, &format!("{stage}: {message}{log}"), width);
        if let Some(line) = failure.evidence.trim_end().lines().last() {
            wrap(text, "its last line: ", line, width);
        }
    }
    wrap(text, "", &worth(summary), width);
}

/// An interval of a ratio whose ends are farther apart than by this factor says nothing.
const KNOWN_MAX: f64 = 10.0;

/// The second of the two best against the first in open load: `in open load at 24902 requests/s: b
/// takes 1.02 times as long as a at p50 (0.95–1.09); p99 is not known after 3 sets`.
fn times(table: &RankTable) -> Option<String> {
    let [best, next, ..] = table.rows.as_slice() else {
        return None;
    };
    let p99 = table.p99_matrix.as_ref().map(|matrix| &matrix.pairs);
    let found = [(Some(&table.p50), "p50"), (p99, "p99")];
    let found: Vec<(Estimate, &str)> = found
        .iter()
        .filter_map(|(pairs, name)| Some((pairs.as_ref()?.get(1, 0)?.ratio, *name)))
        .filter(|(ratio, _)| ratio.point.is_finite())
        .collect();
    let is_known = |ratio: &Estimate| {
        let ends = ratio.interval.filter(|ends| ends.low > 0.0);
        ends.is_some_and(|ends| ends.high / ends.low <= KNOWN_MAX)
    };
    let mut as_long_as = format!(" as long as {}", best.label);
    let known = found.iter().filter(|(ratio, _)| is_known(ratio));
    let known = known.map(|(ratio, name)| {
        let (times, range) = (ratio_text(ratio.point), range(ratio));
        let whom = std::mem::take(&mut as_long_as);
        format!("{times} times{whom} at {name} ({range})")
    });
    let known: Vec<String> = known.collect();
    let known = (!known.is_empty()).then(|| format!("{} takes {}", next.label, known.join(", ")));
    let unknown = found.iter().filter(|(ratio, _)| !is_known(ratio));
    let unknown: Vec<String> = unknown.map(|(_, name)| (*name).to_owned()).collect();
    let unknown = (!unknown.is_empty()).then(|| {
        let are = if unknown.len() == 1 { "is" } else { "are" };
        let after = counted(best.peak.throughput.estimate.runs, best.unit());
        format!("{} {are} not known after {after}", enumerated(&unknown))
    });
    let at = table.open_words()?;
    let told: Vec<String> = known.into_iter().chain(unknown).collect();
    let text = match told.is_empty() {
        true => [best, next].into_iter().find_map(not_compared)?,
        false => told.join("; "),
    };
    Some(format!("{at}: {text}"))
}

/// Why the response times of a contender are compared with nothing.
fn not_compared(row: &Row) -> Option<String> {
    let validity = row.times_validity();
    (!validity.is_fair()).then(|| format!("{} is {validity}", row.label))
}

/// `5 sets · control: a serves 0.98 and b 1.00 times as much as itself · b is degraded: see the
/// report`.
fn worth(summary: &BenchmarkSummary) -> String {
    let rows = || summary.tables.iter().flat_map(|table| &table.rows);
    let sets = rows().map(|row| (row.peak.throughput.estimate.runs, row.unit()));
    let sets = sets.max().map(|(runs, unit)| counted(runs, unit));
    let unfair = rows().filter(|row| !row.validity().is_fair());
    let unfair: Vec<String> = unfair
        .map(|row| format!("{} is {}", row.label, row.validity().name()))
        .collect();
    let unfair = match unfair.len() {
        0 => None,
        1 | 2 => Some(format!("{}: see the report", enumerated(&unfair))),
        many => Some(format!(
            "{many} of {} are not fair: see the report",
            rows().count()
        )),
    };
    let all = sets
        .into_iter()
        .chain(control::line(&summary.controls))
        .chain(unfair);
    all.collect::<Vec<String>>().join(" · ")
}
