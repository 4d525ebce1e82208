//! The ranked table as plain text for a terminal.

mod capacity;
mod overhead;
mod table;
pub(super) mod wrap;

use std::fmt::Write as _;

use super::answer;
use super::table::{ranks, starts};
use super::turns;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::benchmarks::startup::StartupSummary;
use bakeoff_analysis::data::number::{as_f64, range, ratio_text, significant};
use bakeoff_analysis::explain::reasons::Reasons;
use bakeoff_analysis::outcome::sessions::{Compared, PairTwice};
use bakeoff_analysis::tables::failures::{FailedRun, Unranked};
use bakeoff_analysis::tables::summary::{BenchmarkSummary, RankTable};
use bakeoff_stats::Verdict;
use table::MARK;
use wrap::{WIDTH_MIN, wrap};

/// The tables as text, at most `width` columns wide where words allow, and a few lines below each.
/// Ends with a line break.
#[must_use]
pub fn terminal_ranks(analysis: &Analysis<'_>, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut text = String::new();
    wrap(&mut text, "", &analysis.title, width);
    for load in &analysis.loads {
        let benchmark = &load.summary;
        push_tables(&mut text, benchmark, width, push_rows);
        answer::push(&mut text, benchmark, width);
        push_rest(&mut text, &benchmark.unranked, &[], width);
    }
    push_others(&mut text, analysis, width);
    text
}

/// All that is known as text, at most `width` columns wide where words allow. Ends with a line
/// break.
#[must_use]
pub fn terminal_table(analysis: &Analysis<'_>, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut text = String::new();
    wrap(&mut text, "", &analysis.title, width);
    for warning in &analysis.warnings {
        wrap(&mut text, "warning: ", warning, width);
    }
    for sentence in analysis.runs_decision() {
        wrap(&mut text, "", &sentence, width);
    }
    for load in &analysis.loads {
        let benchmark = &load.summary;
        push_tables(&mut text, benchmark, width, push_table);
        for control in &benchmark.controls {
            text.push('\n');
            wrap(&mut text, "", &control.sentence(), width);
        }
        if let Some(sets) = &benchmark.sets {
            text.push('\n');
            for sentence in turns::sentences(sets) {
                wrap(&mut text, "", &sentence, width);
            }
        }
        push_rest(&mut text, &benchmark.unranked, &benchmark.failures, width);
    }
    push_others(&mut text, analysis, width);
    text
}

/// Cold starts, capacities and overheads.
fn push_others(text: &mut String, analysis: &Analysis<'_>, width: usize) {
    for startup in &analysis.startups {
        let startup = &startup.summary;
        text.push('\n');
        let title = format!("{}: {}", startup.name, startup.conditions);
        wrap(text, "", &title, width);
        push_starts(text, startup, width);
        push_rest(text, &startup.unranked, &startup.failures, width);
    }
    for capacity in &analysis.capacities {
        let summary = &capacity.summary;
        text.push('\n');
        let title = format!("{}: {}", summary.name, summary.conditions);
        wrap(text, "", &title, width);
        capacity::push(text, summary, width);
    }
    for overhead in &analysis.overheads {
        overhead::push(text, overhead, width);
    }
}

fn push_starts(text: &mut String, startup: &StartupSummary, width: usize) {
    if startup.rows.is_empty() {
        return;
    }
    text.push('\n');
    wrap(text, "", "Cold starts, fastest mean first", width);
    table::push(text, &starts::table(&startup.rows), width);
}

/// The title of a benchmark, and each of its tables with what bounds it.
fn push_tables(
    text: &mut String,
    benchmark: &BenchmarkSummary,
    width: usize,
    push: fn(&mut String, &RankTable, usize),
) {
    text.push('\n');
    let title = format!("{}: {}", benchmark.name, benchmark.conditions);
    wrap(text, "", &title, width);
    for table in &benchmark.tables {
        push(text, table, width);
        for sentence in benchmark.bound_sentences(table) {
            wrap(text, "", &sentence, width);
        }
    }
}

fn push_rows(text: &mut String, table: &RankTable, width: usize) {
    text.push('\n');
    wrap(text, "", table.title, width);
    if let Some(step) = &table.stated {
        wrap(
            text,
            "",
            &ranks::where_in_short(step, table.open_words()),
            width,
        );
    }
    let ranks = ranks::table(&table.rows);
    table::push(text, &ranks, width);
    if table::has_mark(&ranks) {
        wrap(text, "", &format!("{MARK} {}", table.not_fair()), width);
    }
}

fn push_table(text: &mut String, table: &RankTable, width: usize) {
    push_rows(text, table, width);
    for conclusion in &table.times {
        wrap(text, "", &conclusion.sentence(), width);
    }
    // Of the two best; the documents have all.
    if let Some(sentence) = table.reasons_of_two_best().and_then(Reasons::sentence) {
        wrap(text, "", &sentence, width);
    }
    let mut unfair = table.rows.iter().filter(|row| !row.validity().is_fair());
    if let Some(row) = unfair.next() {
        wrap(text, "why: ", &row.validity().to_string(), width);
    }
}

fn push_rest(text: &mut String, unranked: &[Unranked], failures: &[FailedRun], width: usize) {
    if !unranked.is_empty() {
        text.push_str("\nNot ranked\n");
    }
    for unranked in unranked {
        wrap(
            text,
            &format!("  {}: ", unranked.label),
            &unranked.reason,
            width,
        );
    }
    if !failures.is_empty() {
        text.push_str("\nFailed runs\n");
    }
    for failure in failures {
        let head = format!("  {} {}: ", failure.label, failure.runs_text());
        wrap(
            text,
            &head,
            &format!(
                "{}: {}{}",
                failure.stage,
                failure.message,
                failure.log_text()
            ),
            width,
        );
    }
}

/// Two sessions compared as text: one line for each metric.
#[must_use]
pub fn terminal_comparison(all: &[Compared]) -> String {
    let width = all
        .iter()
        .map(|one| one.label.chars().count() + one.benchmark.chars().count() + 2)
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for one in all {
        let name = format!("{}: {}", one.benchmark, one.label);
        let ratio = &one.comparison.ratio;
        let interval = match range(ratio) {
            range if range.is_empty() => "no interval".to_owned(),
            range => format!("95 %: {range}"),
        };
        let verdict = match one.comparison.verdict.name() {
            "faster" => "better",
            "slower" => "worse",
            other => other,
        };
        let caveat = match one.caveat.as_str() {
            "" => String::new(),
            caveat => format!(" [{caveat}]"),
        };
        let _ = writeln!(
            text,
            "{name:<width$}  {} -> {} {}  x{} ({interval}) {verdict}{caveat}",
            significant(one.first),
            significant(one.second),
            one.metric,
            ratio_text(ratio.point),
        );
    }
    text
}

/// Counts the verdicts on pairs that two sessions share, and lists those that differ; empty without
/// a pair that both compare.
#[must_use]
pub fn terminal_repeats(pairs: &[PairTwice]) -> String {
    let decided: Vec<&PairTwice> = pairs.iter().filter(|pair| pair.is_decided()).collect();
    let same = decided.iter().filter(|pair| pair.repeats()).count();
    let mut text = match (pairs.len(), decided.len()) {
        (0, _) => return String::new(),
        (all, 0) => format!("verdicts on pairs: none of {all} is decided by both sessions\n"),
        (all, decided) => format!(
            "verdicts on pairs: {same} of {decided} that both sessions decide are the same \
             ({:.0} %); {} are not decided by both\n",
            as_f64(same as u64) / as_f64(decided as u64) * 100.0,
            all - decided,
        ),
    };
    for pair in decided.iter().filter(|pair| !pair.repeats()) {
        let [one, two] = &pair.labels;
        let [first, second] = pair.verdicts.map(Verdict::name);
        let _ = writeln!(
            text,
            "not repeated: {}, {}: {one} against {two} is {first}, then {second}",
            pair.benchmark, pair.metric
        );
    }
    text
}
