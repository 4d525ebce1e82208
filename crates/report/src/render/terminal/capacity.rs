//! Capacities as plain text for a terminal.

use super::push_rest;
use super::table;
use super::wrap::wrap;
use crate::render::table::capacity;
use bakeoff_analysis::benchmarks::capacity::CapacitySummary;

pub(super) fn push(text: &mut String, summary: &CapacitySummary, width: usize) {
    for one in &summary.tables {
        text.push('\n');
        wrap(text, "", &format!("Capacity: {}", one.objective), width);
        if !one.rows.is_empty() {
            table::push(text, &capacity::table(&one.rows), width);
        }
        if one.rows.iter().any(|row| row.runs == 1) {
            let note = "with one run the interval is that of its search";
            wrap(text, "", note, width);
        }
        for remark in &one.remarks {
            wrap(text, "", remark, width);
        }
        push_rest(text, &one.unranked, &[], width);
    }
    let has_rows = summary.tables.iter().any(|table| !table.rows.is_empty());
    if has_rows {
        let note = "last: the highest rate that was met below the lowest that was missed";
        wrap(text, "", note, width);
    }
    push_rest(text, &[], &summary.failures, width);
}
