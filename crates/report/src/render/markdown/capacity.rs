//! Capacities in Markdown.

use std::fmt::Write as _;

use super::table::{self, escape};
use super::{push_rest, push_ties};
use crate::render::table::capacity;
use bakeoff_analysis::benchmarks::capacity::CapacitySummary;

/// The capacities of a benchmark, highest first.
pub(super) fn push(text: &mut String, summary: &CapacitySummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&summary.name));
    let _ = writeln!(
        text,
        "{}\n\n{}",
        escape(&summary.conditions),
        escape(&summary.how)
    );
    for one in &summary.tables {
        let _ = write!(text, "\n### Capacity: {}\n\n", escape(&one.objective));
        for conclusion in &one.conclusions {
            let _ = writeln!(text, "- {}", escape(&conclusion.sentence()));
        }
        table::push(text, &capacity::table(&one.rows));
        push_ties(text, one.rows.iter().map(|row| row.tie));
        if one.rows.iter().any(|row| row.runs == 1) {
            text.push_str("\nWith one run the interval is that of its search.\n");
        }
        for remark in &one.remarks {
            let _ = writeln!(text, "\n{}", escape(remark));
        }
        push_rest(text, &one.unranked, &[]);
    }
    push_rest(text, &[], &summary.failures);
}
