//! What failed, by message: what a person looks for first when requests failed.

use std::collections::BTreeMap;

use bakeoff_model::load::{ErrorClass, ErrorCount};

use super::benchmark::{BenchmarkData, StepData};
use crate::number::as_f64;

/// Failures with one message in one step of all runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ErrorRow {
    /// Contender and parameters.
    pub(crate) label: String,
    pub(crate) step: String,
    pub(crate) error: Error,
}

/// Failures with one message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Error {
    pub(crate) class: ErrorClass,
    /// In words; empty where it was not kept.
    pub(crate) message: String,
    pub(crate) count: u64,
    /// Of all failures of the steps, 0 to 1.
    pub(crate) share: f64,
}

/// All failures of a benchmark, step by step and case by case; of runs that failed, too, because
/// they are what there is to look for.
pub(crate) fn rows(benchmark: &BenchmarkData<'_>) -> Vec<ErrorRow> {
    let mut rows = Vec::new();
    for label in &benchmark.step_labels {
        for case in &benchmark.cases {
            let steps: Vec<_> = case.runs.iter().filter_map(|run| run.step(label)).collect();
            let row = |error| ErrorRow {
                label: case.label.clone(),
                step: label.clone(),
                error,
            };
            rows.extend(errors(&steps).into_iter().map(row));
        }
    }
    rows
}

/// The failures of these steps, the most frequent first.
pub(crate) fn errors(steps: &[&StepData<'_>]) -> Vec<Error> {
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

/// How many by message. Records keep a few messages of each slice and early ones a single example,
/// which stands for all.
fn messages(error: &ErrorCount) -> Vec<(&str, u64)> {
    if error.messages.is_empty() {
        return vec![(error.example.as_deref().unwrap_or_default(), error.count)];
    }
    let kept = error.messages.iter();
    let mut messages: Vec<(&str, u64)> = kept.map(|(text, count)| (&**text, *count)).collect();
    let rest = error.count.saturating_sub(error.messages.values().sum());
    if rest > 0 {
        messages.push(("other messages", rest));
    }
    messages
}
