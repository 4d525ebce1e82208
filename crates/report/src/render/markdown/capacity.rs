//! Capacities in Markdown.

use std::fmt::Write as _;

use super::{escape, push_rest, push_ties};
use crate::analysis::capacity::{CapacityRow, CapacitySummary};
use crate::analysis::comparison::rank_text;
use crate::number::{range, significant, significant_or_dash};

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
        if !table.rows.is_empty() {
            text.push_str(
                "\n| # | contender | req/s | 95 % interval | last before failure | CPU us/req | \
                 confirmed | runs |\n|--:|---|--:|---|--:|--:|--:|--:|\n",
            );
        }
        table.rows.iter().for_each(|row| text.push_str(&line(row)));
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

fn line(row: &CapacityRow) -> String {
    let interval = match range(&row.rate) {
        range if range.is_empty() => "–".to_owned(),
        range => range,
    };
    let confirmed = match row.confirmed.held {
        0 => "–".to_owned(),
        held => format!("{}/{held}", row.confirmed.met),
    };
    let cells = [
        rank_text(row.rank, row.tie),
        escape(&row.label),
        significant(row.rate.point),
        interval,
        significant_or_dash(row.last_before_failure),
        significant_or_dash(row.cpu_us),
        confirmed,
        format!("{}/{}", row.runs, row.runs_begun),
    ];
    format!("| {} |\n", cells.join(" | "))
}
