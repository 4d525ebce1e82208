//! Database connections in use by contenders, and their cost to the database.

use bakeoff_model::measure::resource::DatabaseSessions;

use crate::data::benchmark::{BenchmarkData, RunData, StepData};
use crate::data::number::{as_f64, count};

/// Database use in one step of all completed runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct DatabaseRow {
    /// The step.
    pub step: String,
    /// Contender and parameters.
    pub label: String,
    /// Maximum number of connections open at the end of a time slice.
    pub open_most: u64,
    /// Connections with an active statement or transaction, mean over the ends of time slices.
    pub active_mean: f64,
    /// Number of cores that the database server used, mean over runs.
    pub database_cores: Option<f64>,
    /// Number of cores that the contender used, mean over runs.
    pub contender_cores: Option<f64>,
}

/// Returns rows step by step and within each case by case; none without a database.
pub fn rows(benchmark: &BenchmarkData<'_>) -> Vec<DatabaseRow> {
    let mut rows = Vec::new();
    for label in &benchmark.step_labels {
        for case in &benchmark.cases {
            let steps = case.completed().filter_map(|run| run.step(label));
            let steps: Vec<&StepData<'_>> = steps.collect();
            rows.extend(row(&case.label, label, &steps));
        }
    }
    rows
}

fn row(label: &str, step: &str, steps: &[&StepData<'_>]) -> Option<DatabaseRow> {
    let slices = steps.iter().flat_map(|step| &step.slices);
    let sessions: Vec<DatabaseSessions> = slices
        .filter_map(|slice| slice.backend_after.as_ref()?.sessions)
        .collect();
    let open_most = sessions.iter().map(|one| one.open).max()?;
    let active: u64 = sessions.iter().map(|one| one.active).sum();
    Some(DatabaseRow {
        step: step.to_owned(),
        label: label.to_owned(),
        open_most,
        active_mean: as_f64(active) / count(sessions.len()),
        database_cores: mean(steps.iter().map(|step| step.backend_cores())),
        contender_cores: mean(steps.iter().map(|step| step.contender_cores())),
    })
}

fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / count(values.len()))
}

/// Returns the connections in use at the end of each slice of a run, with the seconds since the
/// load started.
pub fn in_use(run: &RunData<'_>) -> Vec<(f64, u64)> {
    let slices = &run.records.intervals;
    let began_ns = slices.first().map_or(0, |slice| slice.load.start_ns);
    slices
        .iter()
        .filter_map(|slice| {
            let sessions = slice.backend_after.as_ref()?.sessions?;
            let at_ns = slice.load.end_ns.saturating_sub(began_ns);
            Some((as_f64(at_ns) / 1e9, sessions.active))
        })
        .collect()
}
