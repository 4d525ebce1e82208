//! Contenders as a share of their baselines, for the closing lines of a session.

use super::{Column, MARK, push_rows, wrap};
use crate::render::overhead::{interval, percent, without};
use bakeoff_analysis::overhead::{Overhead, Ratio, Share};

/// Most important first: those that do not fit are left out.
const COLUMNS: [Column<Share>; 5] = [
    Column {
        title: "req/s %",
        width: 7,
        cell: |share| cell(share.ratios[0].as_ref()),
    },
    Column {
        title: "95 %",
        width: 11,
        cell: |share| share.ratios[0].as_ref().map_or_else(String::new, interval),
    },
    Column {
        title: "CPU %",
        width: 6,
        cell: |share| cell(share.ratios[1].as_ref()),
    },
    Column {
        title: "MiB %",
        width: 6,
        cell: |share| cell(share.ratios[2].as_ref()),
    },
    Column {
        title: "of",
        width: 28,
        cell: |share| share.baseline.clone(),
    },
];

fn cell(ratio: Option<&Ratio>) -> String {
    let Some(ratio) = ratio else {
        return "–".to_owned();
    };
    let mut text = percent(ratio);
    if !ratio.validity.is_fair() {
        text.push(MARK);
    }
    text
}

/// The shares at the stated steps.
pub(super) fn push(text: &mut String, overhead: &Overhead, width: usize) {
    text.push('\n');
    let title = format!("Percent of the baseline: {}", overhead.conditions);
    wrap(text, "", &title, width);
    let mut is_marked = false;
    for benchmark in overhead.benchmarks() {
        let rows: Vec<Share> = overhead.headline(benchmark).into_iter().cloned().collect();
        let Some(first) = rows.first() else {
            continue;
        };
        text.push('\n');
        wrap(
            text,
            "",
            &format!("{benchmark} {}", first.step.words()),
            width,
        );
        push_rows(
            text,
            &rows,
            &COLUMNS,
            |row| (String::new(), row.label.clone()),
            width,
        );
        let mut ratios = rows.iter().flat_map(|row| row.ratios.iter().flatten());
        is_marked |= ratios.any(|ratio| !ratio.validity.is_fair());
    }
    if is_marked {
        wrap(text, "", "! one of the two is not a fair number", width);
    }
    for one in &overhead.without {
        wrap(text, "  ", &without(one), width);
    }
}
