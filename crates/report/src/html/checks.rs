//! The checks table: one row for each check, one column for each contender.

use std::collections::BTreeMap;

use bakeoff_model::check::CheckOutcome;

use crate::checks::{self, CheckCell};
use crate::html::text::escape;
use crate::measure::BenchmarkFigures;
use crate::number::{figures, seconds};

pub(crate) fn section(benchmark: &BenchmarkFigures<'_>) -> String {
    let names = checks::names(benchmark);
    if names.is_empty() {
        return "<p>No checks were made.</p>\n".to_owned();
    }
    let label = |label: &str| format!("<th scope=\"col\">{}</th>", escape(label));
    let heads: String = benchmark
        .cases
        .iter()
        .map(|case| label(&case.label))
        .collect();
    let mut html = format!(
        "<div class=\"scroll tall\"><table class=\"checks\"><thead><tr><th scope=\"col\">check</th>\
         {heads}</tr></thead>\n"
    );
    let columns = benchmark.cases.len() + 1;
    let mut group_open: Option<&str> = None;
    for (group, name) in &names {
        if group_open != Some(group) {
            if group_open.is_some() {
                html.push_str("</tbody>\n");
            }
            html.push_str(&format!(
                "<tbody><tr class=\"group\"><th scope=\"rowgroup\" colspan=\"{columns}\">{}</th>\
                 </tr>\n",
                escape(group)
            ));
            group_open = Some(group);
        }
        let cells: Vec<Option<CheckCell>> = benchmark
            .cases
            .iter()
            .map(|case| checks::cell(case, group, name))
            .collect();
        html.push_str(&row(name, &cells));
    }
    html + "</tbody></table></div>\n"
}

/// Cells that differ from what most contenders have are bold.
fn row(name: &str, cells: &[Option<CheckCell>]) -> String {
    let texts: Vec<Option<String>> = cells.iter().map(|cell| cell.as_ref().map(text)).collect();
    let usual = usual(&texts);
    let mut html = format!("<tr><th scope=\"row\">{}</th>", escape(name));
    for (cell, text) in cells.iter().zip(&texts) {
        let (Some(cell), Some(text)) = (cell, text) else {
            html.push_str("<td class=\"none\">not made</td>");
            continue;
        };
        let differs = usual.as_ref().is_some_and(|usual| usual != text);
        html.push_str(&cell_html(cell, text, differs));
    }
    html + "</tr>\n"
}

fn cell_html(cell: &CheckCell, text: &str, differs: bool) -> String {
    let class = match &cell.shown.outcome {
        CheckOutcome::Good => "good",
        CheckOutcome::Bad { .. } | CheckOutcome::ConnErr { .. } => "bad",
        CheckOutcome::NotApplicable { .. } => "none",
    };
    let shown = escape(text);
    let shown = if differs {
        format!("<b>{shown}</b>")
    } else {
        shown
    };
    let detail = match &cell.shown.outcome {
        CheckOutcome::NotApplicable { reason } => reason.clone(),
        _ => cell.failure().unwrap_or_default(),
    };
    let detail = if detail.is_empty() {
        String::new()
    } else {
        format!("<span class=\"assertion\">{}</span>", escape(&detail))
    };
    let took = figures(seconds(cell.shown.duration_ns));
    format!("<td class=\"{class}\" title=\"took {took} s\">{shown}{detail}</td>")
}

/// `✓ 52.3 MiB`, `✗ Bad`: numbers to three significant figures.
fn text(cell: &CheckCell) -> String {
    let word = match &cell.shown.outcome {
        CheckOutcome::Good => "✓",
        CheckOutcome::Bad { .. } => "✗ Bad",
        CheckOutcome::ConnErr { .. } => "✗ ConnErr",
        CheckOutcome::NotApplicable { .. } => "n/a",
    };
    match &cell.shown.value {
        Some(value) => format!("{word} {}", three_figures(value)),
        None => word.to_owned(),
    }
}

/// Numbers with a decimal point inside text, rounded to three significant figures; those with
/// fewer stay as they are.
fn three_figures(text: &str) -> String {
    let words = text.split(' ').map(|word| {
        let number = word
            .contains('.')
            .then(|| word.parse::<f64>().ok())
            .flatten();
        let rounded = number
            .map(figures)
            .filter(|rounded| rounded.len() < word.len());
        rounded.unwrap_or_else(|| word.to_owned())
    });
    words.collect::<Vec<String>>().join(" ")
}

/// What more than half of the contenders have; `None` without such a majority.
fn usual(texts: &[Option<String>]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts.iter().flatten() {
        *counts.entry(text).or_default() += 1;
    }
    let made: usize = counts.values().sum();
    let (text, count) = counts.into_iter().max_by_key(|(_, count)| *count)?;
    (2 * count > made).then(|| text.to_owned())
}
