//! The comparisons of contenders, and the ranked tables.

use bakeoff_model::validity;
use bakeoff_stats::{Comparison, Tie, Verdict};
use maud::{Markup, html};

use super::failures;
use super::reasons;
use super::table;
use crate::render::table::{ranks, sets};
use crate::render::turns;
use bakeoff_analysis::data::number::{range, ratio_text, significant};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::tables::comparison::{Conclusion, Matrix};
use bakeoff_analysis::tables::control;
use bakeoff_analysis::tables::summary::{BenchmarkSummary, RankTable};
use bakeoff_analysis::turns::Sets;

/// More conclusions than this are folded away behind the first ones.
const CONCLUSIONS_OPEN: usize = 6;

pub(super) fn section(summary: &BenchmarkSummary, index: usize) -> Markup {
    html! {
        section.benchmark id={ "results-" (index) } {
            h3 { (summary.name) }
            p.conditions { (summary.conditions) }
            @let line = control::line(&summary.controls);
            @if let Some(control) = line.filter(|_| !summary.control.is_void()) {
                details { summary { (control) } (controls(summary)) }
            } @else {
                (controls(summary))
            }
            @for table in &summary.tables {
                (ranked(table, &summary.bound_sentences(table)))
            }
            @if let Some(sets) = &summary.sets { (in_turns(sets)) }
            @if !summary.unranked.is_empty() {
                h4.unfair { "Not ranked" }
                (failures::unranked(&summary.unranked))
                (unranked_rows(summary))
            }
            (failures::failed_runs(&summary.failures))
        }
    }
}

fn controls(summary: &BenchmarkSummary) -> Markup {
    html! { @for control in &summary.controls { p { (control.sentence()) } } }
}

/// Returns the measurements of the sets besides their ratios.
fn in_turns(sets: &Sets) -> Markup {
    html! {
        h4 { "Sets" }
        @for sentence in turns::sentences(sets) { p { (sentence) } }
        @if !sets.pairs.is_empty() {
            details {
                summary { "Where the spread comes from" }
                (table::of("", &sets::table(sets)))
            }
        }
    }
}

fn ranked(table: &RankTable, bounds: &[String]) -> Markup {
    let class = if table.verdict == validity::FairnessVerdict::Fair {
        "fair"
    } else {
        "unfair"
    };
    html! {
        h4 class=(class) { (table.title) }
        @for sentence in bounds { p { (sentence) } }
        (conclusions(&table.conclusions))
        (conclusions(&table.times))
        (reasons::sentences(&table.reasons))
        @if let Some(step) = &table.stated {
            p.hint { (ranks::where_measured(step, table.open_words())) }
        }
        (table::of("ranks", &ranks::table(&table.rows)))
        @if table.rows.iter().any(|row| row.standing.tie != Tie::Alone) { p.hint { (ranks::TIES) } }
        (evidence(&table.rows))
        (reasons::tables(&table.reasons))
        (matrices(table))
    }
}

pub(super) fn conclusions(conclusions: &[Conclusion]) -> Markup {
    let (open, folded) = conclusions.split_at(conclusions.len().min(CONCLUSIONS_OPEN));
    html! {
        @if !open.is_empty() { ul.conclusions { @for one in open { (conclusion(one)) } } }
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) " more" }
                ul.conclusions { @for one in folded { (conclusion(one)) } }
            }
        }
    }
}

fn conclusion(one: &Conclusion) -> Markup {
    html! {
        li class=(one.verdict.name()) {
            b { (one.first) } " " (one.middle) " " b { (one.second) } " "
            span.detail { (one.detail) } " " em { (one.verdict.name()) } " "
            span.detail { (one.price) }
        }
    }
}

/// The evidence behind each metric that is not fair.
fn evidence(rows: &[Row]) -> Markup {
    let peaks = rows.iter().filter(|row| !row.validity().is_fair());
    let mut unfair: Vec<(&str, String)> = peaks
        .map(|row| {
            let reason = format!("requests/s {}", table::reason(&row.peak.throughput));
            (row.label.as_str(), reason)
        })
        .collect();
    let stated = rows.iter().filter(|row| !row.stated.validity.is_fair());
    unfair.extend(stated.map(|row| {
        let reason = row.stated.validity.to_string();
        (
            row.label.as_str(),
            match row.open {
                Some(_) => format!("CPU per request and memory: {reason}"),
                None => format!("latencies, CPU per request and memory: {reason}"),
            },
        )
    }));
    let open = rows.iter().filter(|row| row.open.is_some());
    let open = open.filter(|row| !row.times_validity().is_fair());
    unfair.extend(open.map(|row| {
        let reason = row.times_validity();
        (row.label.as_str(), format!("latencies: {reason}"))
    }));
    html! {
        @if !unfair.is_empty() {
            details {
                summary { "Why some of these are not fair numbers (!)" }
                ul {
                    @for (label, reason) in unfair { li { (label) ", " (reason) } }
                }
            }
        }
    }
}

/// Every row against every other: throughput, CPU per request and p99.
fn matrices(table: &RankTable) -> Markup {
    html! {
        @if table.rows.len() > 1 {
            details.pairs {
                summary { "Each against each" }
                p.hint {
                    "Row divided by column, with the 95 % interval of that pair alone. ▲ the row \
                     is faster, ▼ slower (5 % for any error in the matrix, so that an interval \
                     without 1 may not do), ≈ equivalent within 3 %, = not significantly different."
                }
                (matrix(table, &table.throughput_matrix))
                (matrix(table, &table.cpu_matrix))
                @if let Some(p99) = &table.p99_matrix { (matrix(table, p99)) }
            }
        }
    }
}

fn matrix(table: &RankTable, matrix: &Matrix) -> Markup {
    table::framed(
        "matrix",
        &html! {
            caption { (matrix.title) }
            thead {
                tr {
                    td {}
                    @for row in &table.rows { th scope="col" { (row.label) } }
                }
            }
            tbody {
                @let lines = table.rows.iter().zip(matrix.pairs.cells());
                @for (line, (row, cells)) in lines.enumerate() {
                    tr {
                        th scope="row" { (row.label) }
                        @for (column, cell) in cells.iter().enumerate() {
                            @match cell {
                                Some(one) if one.ratio.point.is_finite() => (pair(one)),
                                _ => td { @if line != column { "–" } },
                            }
                        }
                    }
                }
            }
        },
    )
}

fn pair(comparison: &Comparison) -> Markup {
    let mark = match comparison.verdict {
        Verdict::Faster => "▲",
        Verdict::Slower => "▼",
        Verdict::Equivalent => "≈",
        Verdict::Inconclusive => "=",
        Verdict::Void => "void",
    };
    let both = comparison.p_value.zip(comparison.p_adjusted);
    let chance = both.map(|(alone, adjusted)| {
        let (alone, adjusted) = (significant(alone), significant(adjusted));
        format!("p = {alone} alone, {adjusted} among all pairs (Holm)")
    });
    html! {
        td class=(comparison.verdict.name()) title=[chance] {
            (ratio_text(comparison.ratio.point)) " " (mark) " "
            small { (range(&comparison.ratio)) }
        }
    }
}

fn unranked_rows(summary: &BenchmarkSummary) -> Markup {
    let measured = || summary.unranked.iter().filter_map(|one| one.row.as_ref());
    html! {
        @if measured().next().is_some() {
            p.hint { "Their numbers all the same:" }
            @if let Some(step) = &summary.stated { p.hint { (ranks::where_measured(step, None)) } }
            (table::of("ranks", &ranks::table(measured())))
        }
    }
}
