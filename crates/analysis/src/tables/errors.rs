//! Failures by message and by class, which readers look for first when requests failed.

use std::collections::BTreeMap;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{ErrorClass, ErrorCount};

use crate::data::benchmark::{BenchmarkData, StepData};
use crate::data::number::as_f64;
use crate::data::requests::TimesMs;

/// The failures of a benchmark.
#[derive(Debug, Default)]
pub struct Failed {
    /// Failures by message.
    pub messages: Vec<ErrorRow>,
    /// Durations of failures by class; empty if no times were recorded.
    pub classes: Vec<ClassRow>,
}

/// Durations of failures with one class in one step, over all runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct ClassRow {
    /// Contender and parameters.
    pub label: String,
    /// The step.
    pub step: String,
    /// The class of errors.
    pub class: ErrorClass,
    /// Number of failures.
    pub count: u64,
    /// Share of all requests that ended, 0 to 1.
    pub share: f64,
    /// Response times of the failures.
    pub times: TimesMs,
}

/// Failures with one message in one step of all runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct ErrorRow {
    /// Contender and parameters.
    pub label: String,
    /// The step.
    pub step: String,
    /// The error.
    pub error: Error,
}

/// Failures with one message.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The class of the failures.
    pub class: ErrorClass,
    /// The message; empty if it was not kept.
    pub message: String,
    /// How often it occurred.
    pub count: u64,
    /// Share of all failures of the steps, 0 to 1.
    pub share: f64,
}

/// Returns all failures of a benchmark, step by step and case by case, including those of failed
/// runs, because readers look for these.
pub fn failed(benchmark: &BenchmarkData<'_>) -> Failed {
    let mut failed = Failed::default();
    for label in &benchmark.step_labels {
        for case in &benchmark.cases {
            let steps: Vec<_> = case.runs.iter().filter_map(|run| run.step(label)).collect();
            let row = |error| ErrorRow {
                label: case.label.clone(),
                step: label.clone(),
                error,
            };
            failed.messages.extend(errors(&steps).into_iter().map(row));
            failed.classes.extend(classes(&case.label, label, &steps));
        }
    }
    failed
}

/// Returns the classes of these steps whose times were recorded, in the order of
/// [`ErrorClass::ALL`].
fn classes(case: &str, step: &str, steps: &[&StepData<'_>]) -> Vec<ClassRow> {
    let mut all: BTreeMap<ErrorClass, (u64, Histogram)> = BTreeMap::new();
    // Response times in turns are those of bursts.
    let slices = steps.iter().flat_map(|step| &step.slices);
    for slice in slices.filter(|slice| slice.load.turns.is_empty()) {
        for (class, error) in &slice.load.errors {
            if let Some(times) = &error.times {
                let (count, sum) = all.entry(*class).or_default();
                *count += error.count;
                sum.merge(times);
            }
        }
    }
    let ended = steps.iter().map(|step| &step.totals);
    let ended: u64 = ended.map(|sum| sum.requests + sum.failed()).sum();
    let row = |(class, (count, times)): (ErrorClass, (u64, Histogram))| ClassRow {
        label: case.to_owned(),
        step: step.to_owned(),
        class,
        count,
        share: as_f64(count) / as_f64(ended),
        times: TimesMs::of(&times),
    };
    all.into_iter().map(row).collect()
}

/// Returns the failures of these steps, the most frequent first.
pub fn errors(steps: &[&StepData<'_>]) -> Vec<Error> {
    let mut counts: BTreeMap<(ErrorClass, &str), u64> = BTreeMap::new();
    let slices = steps.iter().flat_map(|step| &step.slices);
    for (class, error) in slices.flat_map(|slice| &slice.load.errors) {
        for (message, count) in messages(error) {
            *counts.entry((*class, message)).or_default() += count;
        }
    }
    let total: u64 = counts.values().sum();
    let error = |((class, message), count): (&(ErrorClass, &str), &u64)| Error {
        class: *class,
        message: (*message).to_owned(),
        count: *count,
        share: as_f64(*count) / as_f64(total),
    };
    let mut errors: Vec<Error> = counts.iter().map(error).collect();
    errors.sort_by_key(|error| std::cmp::Reverse(error.count));
    errors
}

/// Counts failures by message. Records keep a few messages of each slice.
fn messages(error: &ErrorCount) -> Vec<(&str, u64)> {
    let kept = error.messages.iter();
    let mut messages: Vec<(&str, u64)> = kept.map(|(text, count)| (&**text, *count)).collect();
    let rest = error.count.saturating_sub(error.messages.values().sum());
    if rest > 0 {
        messages.push(("other messages", rest));
    }
    messages
}
