//! Contenders as a share of their baselines, and along parameters with numbers, as Markdown.

use std::fmt::Write as _;

use super::table::{self, escape};
use crate::render::overhead::{NOTE, without};
use crate::render::table::overhead::{scaling as scaling_table, shares};
use bakeoff_analysis::benchmarks::overhead::Overhead;
use bakeoff_analysis::benchmarks::scaling::Scaling;
use bakeoff_analysis::data::metric::Quantity;

/// A table for each quantity: contenders at the steps that are shown down, benchmarks across.
pub(super) fn push(text: &mut String, overhead: &Overhead) {
    let _ = write!(
        text,
        "\n## Percent of the baseline\n\n{}\n",
        escape(&overhead.conditions)
    );
    let _ = write!(text, "\n{NOTE}\n");
    for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
        if !overhead.lines().is_empty() {
            let name = quantity.name();
            let _ = writeln!(text, "\n### Percent of the baseline: {name}");
            table::push(text, &shares(overhead, quantity, place));
        }
    }
    if !overhead.without.is_empty() {
        text.push('\n');
    }
    for one in &overhead.without {
        let _ = writeln!(text, "- {}", escape(&without(one)));
    }
}

/// A table for each quantity: contenders at the steps that are shown down, values across.
pub(super) fn push_scaling(text: &mut String, scaling: &Scaling) {
    let parameter = escape(&scaling.parameter);
    for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
        let _ = writeln!(text, "\n### {} by {parameter}", quantity.title());
        table::push(text, &scaling_table(scaling, place));
    }
}
