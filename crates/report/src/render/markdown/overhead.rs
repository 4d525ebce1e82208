//! Contenders as a share of their baselines, and along parameters with numbers, as Markdown.

use std::fmt::Write as _;

use super::escape;
use crate::render::overhead::{NOTE, interval, percent, without};
use bakeoff_analysis::metric::{Metric, Quantity};
use bakeoff_analysis::number::{significant, spread};
use bakeoff_analysis::overhead::{Overhead, Ratio};
use bakeoff_analysis::scaling::Scaling;

/// A table for each quantity: contenders at the steps that are shown down, benchmarks across.
pub(super) fn push(text: &mut String, overhead: &Overhead) {
    let _ = write!(
        text,
        "\n## Percent of the baseline\n\n{}\n",
        escape(&overhead.conditions)
    );
    let _ = write!(text, "\n{NOTE}\n");
    let benchmarks = overhead.benchmarks();
    let lines = overhead.lines();
    for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
        if lines.is_empty() {
            break;
        }
        let names: Vec<String> = benchmarks.iter().map(|name| escape(name)).collect();
        let _ = write!(
            text,
            "\n### Percent of the baseline: {}\n\n| contender | of | at | {} |\n|---|---|--:|{}\n",
            quantity.name(),
            names.join(" | "),
            "--:|".repeat(names.len())
        );
        for line in &lines {
            let mut cells = [line.label, line.baseline, &line.step.label]
                .map(escape)
                .to_vec();
            let shares = line.shares.iter();
            cells.extend(shares.map(|share| {
                let ratio = share.and_then(|share| share.ratios[place].as_ref());
                ratio.map_or_else(|| "–".to_owned(), cell)
            }));
            let _ = writeln!(text, "| {} |", cells.join(" | "));
        }
    }
    if !overhead.without.is_empty() {
        text.push('\n');
    }
    for one in &overhead.without {
        let _ = writeln!(text, "- {}", escape(&without(one)));
    }
}

fn cell(ratio: &Ratio) -> String {
    let mark = if ratio.validity.is_fair() { "" } else { " \\!" };
    let range = match interval(ratio) {
        none if none.is_empty() => none,
        range => format!(" ({range})"),
    };
    format!("{} %{range}{mark}", percent(ratio))
}

/// A table for each quantity: contenders at the steps that are shown down, values across.
pub(super) fn push_scaling(text: &mut String, scaling: &Scaling) {
    let parameter = escape(&scaling.parameter);
    let values: Vec<String> = scaling.values.iter().map(|value| escape(value)).collect();
    for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
        let _ = write!(
            text,
            "\n### {} by {parameter}\n\n| contender | at | {} |\n|---|--:|{}\n",
            quantity.title(),
            values.join(" | "),
            "--:|".repeat(values.len())
        );
        for line in &scaling.lines {
            for (step, shown) in scaling.steps.iter().enumerate() {
                let mut cells = vec![escape(&line.label), escape(&shown.label)];
                cells.extend((0..scaling.values.len()).map(|value| {
                    let metric = line.metric(value, step, place);
                    metric.map_or_else(|| "–".to_owned(), number)
                }));
                let _ = writeln!(text, "| {} |", cells.join(" | "));
            }
        }
    }
}

fn number(metric: &Metric) -> String {
    let mark = if metric.validity.is_fair() {
        ""
    } else {
        " \\!"
    };
    let spread = match spread(&metric.estimate) {
        none if none.is_empty() => none,
        spread => format!(" {spread}"),
    };
    format!("{}{spread}{mark}", significant(metric.mean()))
}
