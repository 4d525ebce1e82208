//! Whether a session answered its question, for the exit status of a command, regardless of how
//! large a difference is, or whether it is significant.

use crate::Analysis;
use crate::benchmarks::capacity::CapacityAnalysis;
use crate::data::checks::CheckTable;
use crate::tables::summary::BenchmarkSummary;

impl Analysis<'_> {
    /// Whether every contender that took part has a valid number, and several could be compared.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        let mut loads = self.loads.iter();
        let mut startups = self.startups.iter();
        loads.all(|load| is_compared(&load.summary))
            && startups.all(|startup| startup.summary.unranked.is_empty())
            && self.capacities.iter().all(passed_checks)
    }
}

/// Whether contenders were compared. Numbers of different validity are in different tables, and
/// only comparable as lower bounds.
fn is_compared(summary: &BenchmarkSummary) -> bool {
    let ranked = summary.tables.iter().map(|table| table.rows.len());
    let is_compared = match ranked.clone().sum() {
        0 => false,
        1 => true,
        _ => ranked.max() > Some(1) || !summary.lower_bounds.is_empty(),
    };
    is_compared && summary.unranked.is_empty() && !summary.control.is_void()
}

/// Whether the contenders passed their checks. A contender without a capacity has been measured: it
/// meets no objective.
fn passed_checks(capacity: &CapacityAnalysis<'_>) -> bool {
    let checks = CheckTable::new(&capacity.data);
    let mut cases = 0..capacity.data.cases.len();
    cases.all(|case| checks.reason_unranked(case).is_none())
}
