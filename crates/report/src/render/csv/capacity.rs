//! Capacities as CSV: a row for each objective of each run, and one for each trial.

use bakeoff_model::capacity::{CapacityRange, CapacityRecord, TrialRecord, TrialVerdict};

use super::{Line, decimal, lines, outcome, parameters, table};
use bakeoff_analysis::Analysis;

/// The first columns of both tables.
const OF_RUN: [&str; 6] = [
    "benchmark",
    "contender",
    "parameters",
    "repetition",
    "outcome",
    "slo",
];

fn of_run(line: &Line<'_, '_>, slo: String) -> Vec<String> {
    vec![
        line.benchmark.name.clone(),
        line.run.records.begin.run.contender.clone(),
        parameters(line),
        line.run.repetition().to_string(),
        outcome(line),
        slo,
    ]
}

/// Returns the result of the search of each run for each objective (RFC 4180, header first, empty =
/// not known). `None` where no search was made.
#[must_use]
pub fn capacity_csv(analysis: &Analysis<'_>) -> Option<String> {
    let found = |line: &Line<'_, '_>, found: &CapacityRecord| {
        let mut cells = of_run(line, found.slo.to_string());
        cells.extend(range(found.capacity));
        cells.push(decimal(found.last_before_failure_per_s));
        cells.push(found.trials.to_string());
        cells.push(found.ended.to_string());
        cells.push(found.disturbance.clone().unwrap_or_default());
        cells
    };
    let rows = all(analysis, |line| {
        let all = line.run.records.capacities.iter();
        all.map(|one| found(line, one)).collect()
    });
    let own = [
        "rate_per_s",
        "low_per_s",
        "high_per_s",
        "last_before_failure_per_s",
        "trials",
        "ended",
        "disturbance",
    ];
    written(&own, rows)
}

/// Every trial of every run, by objective (RFC 4180, header first, empty = not known). The
/// capacity is as it was known after the trial. `None` where no search was made.
#[must_use]
pub fn trials_csv(analysis: &Analysis<'_>) -> Option<String> {
    let verdict = |line: &Line<'_, '_>, trial: &TrialRecord, verdict: &TrialVerdict| {
        let mut cells = of_run(line, verdict.slo.to_string());
        cells.push(trial.step.to_string());
        cells.push(trial.purpose.to_string());
        cells.push(decimal(Some(trial.rate_per_s)));
        cells.push(verdict.outcome.to_string());
        cells.push(verdict.found.clone());
        cells.extend(range(verdict.capacity));
        cells.push(verdict.disturbance.clone().unwrap_or_default());
        cells
    };
    let rows = all(analysis, |line| {
        let trials = line.run.records.trials.iter();
        let verdicts = trials.flat_map(|trial| trial.verdicts.iter().map(move |one| (trial, one)));
        verdicts
            .map(|(trial, one)| verdict(line, trial, one))
            .collect()
    });
    let own = [
        "step",
        "purpose",
        "rate_per_s",
        "verdict",
        "found",
        "capacity_per_s",
        "low_per_s",
        "high_per_s",
        "disturbance",
    ];
    written(&own, rows)
}

fn all(
    analysis: &Analysis<'_>,
    rows: impl Fn(&Line<'_, '_>) -> Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let lines = analysis.capacities.iter().flat_map(|one| lines(&one.data));
    lines.flat_map(|line| rows(&line)).collect()
}

fn written(own: &[&str], rows: Vec<Vec<String>>) -> Option<String> {
    let header = OF_RUN.iter().chain(own).map(|name| (*name).to_owned());
    (!rows.is_empty()).then(|| table(header.collect(), rows.into_iter()))
}

fn range(range: Option<CapacityRange>) -> [String; 3] {
    [
        decimal(range.map(|range| range.rate_per_s)),
        decimal(range.map(|range| range.low_per_s)),
        decimal(range.map(|range| range.high_per_s)),
    ]
}
