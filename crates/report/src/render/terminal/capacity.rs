//! Capacities as plain text for a terminal.

use super::{Column, push_rest, push_rows, wrap};
use bakeoff_analysis::capacity::{CapacityRow, CapacitySummary};
use bakeoff_analysis::comparison::rank_text;
use bakeoff_analysis::number::{significant, significant_or_dash, spread};

/// Columns, most important first.
const COLUMNS: [Column<CapacityRow>; 6] = [
    Column {
        title: "req/s",
        width: 7,
        cell: |row| significant(row.rate.point),
    },
    Column {
        title: "±95%",
        width: 6,
        cell: |row| spread(&row.rate),
    },
    Column {
        title: "last",
        width: 7,
        cell: |row| significant_or_dash(row.last_before_failure),
    },
    Column {
        title: "confirmed",
        width: 9,
        cell: |row| match row.confirmed.held {
            0 => "–".to_owned(),
            held => format!("{}/{held}", row.confirmed.met),
        },
    },
    Column {
        title: "us/req",
        width: 6,
        cell: |row| significant_or_dash(row.cpu_us),
    },
    Column {
        title: "runs",
        width: 5,
        cell: |row| format!("{}/{}", row.runs, row.runs_begun),
    },
];

pub(super) fn push(text: &mut String, summary: &CapacitySummary, width: usize) {
    for table in &summary.tables {
        text.push('\n');
        wrap(text, "", &format!("Capacity: {}", table.objective), width);
        if !table.rows.is_empty() {
            let key = |row: &CapacityRow| (rank_text(row.rank, row.tie), row.label.clone());
            push_rows(text, &table.rows, &COLUMNS, key, width);
        }
        if table.rows.iter().any(|row| row.runs == 1) {
            let note = "with one run the interval is that of its own search";
            wrap(text, "", note, width);
        }
        for remark in &table.remarks {
            wrap(text, "", remark, width);
        }
        push_rest(text, &table.unranked, &[], width);
    }
    let has_rows = summary.tables.iter().any(|table| !table.rows.is_empty());
    if has_rows {
        let note = "last: the highest rate that was met below the lowest that was missed";
        wrap(text, "", note, width);
    }
    push_rest(text, &[], &summary.failures, width);
}
