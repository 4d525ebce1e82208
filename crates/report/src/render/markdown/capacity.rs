//! Capacities in Markdown.

use std::fmt::Write as _;

use super::{Column, escape, fraction, push_rest, push_table_of, push_ties};
use bakeoff_analysis::capacity::{CapacityRow, CapacitySummary};
use bakeoff_analysis::comparison::rank_text;
use bakeoff_analysis::number::{range, significant, significant_or_dash};

/// The capacities of a benchmark, highest first.
pub(super) fn push(text: &mut String, summary: &CapacitySummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&summary.name));
    let _ = writeln!(
        text,
        "{}\n\n{}",
        escape(&summary.conditions),
        escape(&summary.how)
    );
    for table in &summary.tables {
        let _ = write!(text, "\n### Capacity: {}\n\n", escape(&table.objective));
        for conclusion in &table.conclusions {
            let _ = writeln!(text, "- {}", escape(&conclusion.sentence()));
        }
        push_table_of(text, &COLUMNS, table.rows.iter().map(cells).collect());
        push_ties(text, table.rows.iter().map(|row| row.tie));
        if table.rows.iter().any(|row| row.runs == 1) {
            text.push_str("\nWith one run the interval is that of its own search.\n");
        }
        for remark in &table.remarks {
            let _ = writeln!(text, "\n{}", escape(remark));
        }
        push_rest(text, &table.unranked, &[]);
    }
    push_rest(text, &[], &summary.failures);
}

const COLUMNS: [Column; 8] = [
    (">", "#"),
    ("<", "contender"),
    (">", "req/s"),
    ("<", "95 % interval"),
    (">", "last before failure"),
    (">", "CPU us/req"),
    (">", "confirmed"),
    (">", "runs"),
];

fn cells(row: &CapacityRow) -> Vec<String> {
    vec![
        rank_text(row.rank, row.tie),
        escape(&row.label),
        significant(row.rate.point),
        range(&row.rate),
        significant_or_dash(row.last_before_failure),
        significant_or_dash(row.cpu_us),
        fraction(row.confirmed.met, row.confirmed.held),
        fraction(row.runs, row.runs_begun),
    ]
}
