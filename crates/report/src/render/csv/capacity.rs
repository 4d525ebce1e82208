//! Capacities as CSV: a row for each objective of each run, and one for each trial.

use bakeoff_model::suite::capacity::{CapacityRange, CapacityRecord, TrialRecord, TrialVerdict};

use super::{Line, decimal, lines, outcome, parameters, table};
use bakeoff_analysis::Analysis;

/// The name of a column and the cell of a row.
type RunColumn = (&'static str, fn(&Line<'_, '_>) -> String);
type Column<R> = (&'static str, fn(&R) -> String);

/// The first columns of both files, before that of the objective.
const OF_RUN: [RunColumn; 5] = [
    ("benchmark", |line| line.benchmark.name.clone()),
    ("contender", |line| {
        line.run.records.begin.run.contender.clone()
    }),
    ("parameters", parameters),
    ("repetition", |line| line.run.repetition().to_string()),
    ("outcome", outcome),
];

const OF_SEARCH: [Column<CapacityRecord>; 8] = [
    ("slo", |found| found.slo.to_string()),
    ("rate_per_s", |found| rate(found.capacity)),
    ("low_per_s", |found| low(found.capacity)),
    ("high_per_s", |found| high(found.capacity)),
    ("last_before_failure_per_s", |found| {
        decimal(found.last_before_failure_per_s)
    }),
    ("trials", |found| found.trials.to_string()),
    ("ended", |found| found.ended.to_string()),
    ("disturbance", |found| {
        found.disturbance.clone().unwrap_or_default()
    }),
];

/// A trial and its verdict by one objective.
type Judged<'r> = (&'r TrialRecord, &'r TrialVerdict);
type TrialColumn = (&'static str, fn(&Judged<'_>) -> String);

const OF_TRIAL: [TrialColumn; 10] = [
    ("slo", |(_, verdict)| verdict.slo.to_string()),
    ("step", |(trial, _)| trial.step.to_string()),
    ("purpose", |(trial, _)| trial.purpose.to_string()),
    ("rate_per_s", |(trial, _)| decimal(Some(trial.rate_per_s))),
    ("verdict", |(_, verdict)| verdict.outcome.to_string()),
    ("found", |(_, verdict)| verdict.found.clone()),
    ("capacity_per_s", |(_, verdict)| rate(verdict.capacity)),
    ("low_per_s", |(_, verdict)| low(verdict.capacity)),
    ("high_per_s", |(_, verdict)| high(verdict.capacity)),
    ("disturbance", |(_, verdict)| {
        verdict.disturbance.clone().unwrap_or_default()
    }),
];

/// Returns the result of the search of each run for each objective (RFC 4180, header first, empty =
/// not known). `None` if no search was made.
#[must_use]
pub fn capacity_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = all(analysis, |line| {
        let all = line.run.records.capacities.iter();
        all.map(|found| OF_SEARCH.map(|(_, cell)| cell(found)).to_vec())
            .collect()
    });
    written(&OF_SEARCH.map(|(name, _)| name), rows)
}

/// Every trial of every run, by objective (RFC 4180, header first, empty = not known). The
/// capacity is as it was known after the trial. `None` if no search was made.
#[must_use]
pub fn trials_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = all(analysis, |line| {
        let trials = line.run.records.trials.iter();
        let verdicts = trials.flat_map(|trial| trial.verdicts.iter().map(move |one| (trial, one)));
        verdicts
            .map(|judged| OF_TRIAL.map(|(_, cell)| cell(&judged)).to_vec())
            .collect()
    });
    written(&OF_TRIAL.map(|(name, _)| name), rows)
}

/// The rows of each run, behind the columns of the run itself.
fn all(
    analysis: &Analysis<'_>,
    rows: impl Fn(&Line<'_, '_>) -> Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let lines = analysis.capacities.iter().flat_map(|one| lines(&one.data));
    let of_line = |line: Line<'_, '_>| {
        let front = OF_RUN.map(|(_, cell)| cell(&line));
        let rows = rows(&line).into_iter();
        let rows = rows.map(|own| front.iter().cloned().chain(own).collect());
        rows.collect::<Vec<Vec<String>>>()
    };
    lines.flat_map(of_line).collect()
}

fn written(own: &[&str], rows: Vec<Vec<String>>) -> Option<String> {
    let front = OF_RUN.iter().map(|(name, _)| *name);
    let header = front.chain(own.iter().copied()).map(str::to_owned);
    (!rows.is_empty()).then(|| table(header.collect(), rows.into_iter()))
}

fn rate(range: Option<CapacityRange>) -> String {
    decimal(range.map(|range| range.rate_per_s))
}

fn low(range: Option<CapacityRange>) -> String {
    decimal(range.map(|range| range.low_per_s))
}

fn high(range: Option<CapacityRange>) -> String {
    decimal(range.map(|range| range.high_per_s))
}
