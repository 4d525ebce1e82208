//! The checks table: one row for each check, one column for each contender.

use std::collections::BTreeMap;

use bakeoff_model::request::check::CheckOutcome;
use maud::{Markup, html};

use bakeoff_analysis::LoadAnalysis;
use bakeoff_analysis::data::checks::{CheckCell, CheckTable};
use bakeoff_analysis::data::number::{seconds, significant};

/// More letters than this are folded away.
const LETTERS_MAX: usize = 60;

pub(super) fn table(load: &LoadAnalysis<'_>) -> Markup {
    let checks = &load.checks;
    let cases = &load.data.cases;
    let numbered: Vec<(usize, &(String, String))> = checks.names.iter().enumerate().collect();
    html! {
        @if checks.names.is_empty() {
            p { "No checks were made." }
        } @else {
            div.tools {}
            div.scroll.tall tabindex="0" {
                table.checks {
                    thead {
                        tr {
                            th scope="col" { "check" }
                            @for case in cases { th scope="col" { (case.label) } }
                        }
                    }
                    @for group in numbered.chunk_by(|(_, a), (_, b)| a.0 == b.0) {
                        tbody {
                            tr.group {
                                th scope="rowgroup" colspan=(cases.len() + 1) { (group[0].1.0) }
                            }
                            @for (index, (_, name)) in group { (row(checks, *index, name)) }
                        }
                    }
                }
            }
        }
    }
}

/// Cells that differ from what most contenders have are bold.
fn row(checks: &CheckTable, index: usize, name: &str) -> Markup {
    let cells: Vec<Option<&CheckCell>> = checks
        .cases
        .iter()
        .map(|cells| cells[index].as_ref())
        .collect();
    let texts: Vec<Option<String>> = cells.iter().map(|cell| cell.map(text)).collect();
    let usual = usual(&texts);
    html! {
        tr {
            th scope="row" { (name) }
            @for (found, text) in cells.iter().zip(&texts) {
                @match (found, text) {
                    (Some(found), Some(text)) => {
                        (cell(found, text, usual.is_some_and(|usual| usual != text)))
                    }
                    _ => td.none { "not made" },
                }
            }
        }
    }
}

fn cell(cell: &CheckCell, text: &str, differs: bool) -> Markup {
    let class = match &cell.shown.outcome {
        CheckOutcome::Good => "good",
        CheckOutcome::Bad { .. } | CheckOutcome::ConnErr { .. } => "bad",
        CheckOutcome::NotApplicable { .. } => "none",
    };
    let detail = match &cell.shown.outcome {
        CheckOutcome::NotApplicable { reason } => reason.clone(),
        _ => cell.failure().unwrap_or_default(),
    };
    let took_s = seconds(cell.shown.duration_ns);
    html! {
        td class=(class) title={ "took " (significant(took_s)) " s" } {
            @match folded(text) {
                Some(short) => {
                    details {
                        summary { @if differs { b { (short) } } @else { (short) } }
                        (text)
                    }
                }
                None => { @if differs { b { (text) } } @else { (text) } }
            }
            @if !detail.is_empty() { span.assertion { (detail) } }
        }
    }
}

/// Returns the summary of a text that is too long for a cell: `✓ 47 of 31 kinds` for threads by
/// name.
fn folded(text: &str) -> Option<String> {
    if text.chars().count() <= LETTERS_MAX {
        return None;
    }
    let (word, list) = text.split_once(' ')?;
    let counts = list
        .split(", ")
        .map(|one| one.split_once(" x ")?.0.parse::<u64>().ok());
    let short = match counts.collect::<Option<Vec<u64>>>() {
        Some(counts) => format!("{} of {} kinds", counts.iter().sum::<u64>(), counts.len()),
        None => format!(
            "{}…",
            list.chars().take(LETTERS_MAX / 2).collect::<String>()
        ),
    };
    Some(format!("{word} {short}"))
}

/// `✓ 52.3 MiB`, `✗ Bad`: numbers to three significant digits.
fn text(cell: &CheckCell) -> String {
    let word = match &cell.shown.outcome {
        CheckOutcome::Good => "✓",
        CheckOutcome::Bad { .. } => "✗ Bad",
        CheckOutcome::ConnErr { .. } => "✗ ConnErr",
        CheckOutcome::NotApplicable { .. } => "n/a",
    };
    match &cell.shown.value {
        Some(value) => format!("{word} {}", three_digits(value)),
        None => word.to_owned(),
    }
}

/// Numbers with a decimal point inside text, rounded to three significant digits; those with
/// fewer stay as they are.
fn three_digits(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let number = word
            .contains('.')
            .then(|| word.parse::<f64>().ok())
            .flatten();
        let rounded = number
            .map(significant)
            .filter(|rounded| rounded.len() < word.len());
        rounded.unwrap_or_else(|| word.to_owned())
    });
    words.collect::<Vec<String>>().join(" ")
}

/// Returns the text that more than half of the contenders have; `None` without such a majority.
fn usual(texts: &[Option<String>]) -> Option<&str> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts.iter().flatten() {
        *counts.entry(text).or_default() += 1;
    }
    let made: usize = counts.values().sum();
    let (text, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (2 * count > made).then_some(text)
}
