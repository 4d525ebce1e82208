//! Who has no rank and which runs did not complete, with the reasons.

use bakeoff_model::record::Outcome;

use super::benchmark::{BenchmarkData, CaseData, RunData};
use super::row::Row;

/// A contender without a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Unranked {
    /// Contender and parameters.
    pub label: String,
    /// Why it has no rank, a lower-case fragment.
    pub reason: String,
    /// Its metrics all the same, where there are any.
    pub row: Option<Row>,
}

/// Runs of one contender that did not complete, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    /// Contender and parameters.
    pub label: String,
    /// Their repetitions, from 1, ascending.
    pub repetitions: Vec<u32>,
    /// Where it failed; `interrupted` or `killed` when it has no failure.
    pub stage: String,
    /// What happened.
    pub message: String,
    /// Last lines of the first one's log, or what else shows it.
    pub evidence: String,
}

impl FailedRun {
    /// `run 2` or `runs 1, 3, 4`.
    pub(crate) fn runs_text(&self) -> String {
        let numbers: Vec<String> = self.repetitions.iter().map(u32::to_string).collect();
        let word = if numbers.len() == 1 { "run" } else { "runs" };
        format!("{word} {}", numbers.join(", "))
    }
}

/// Why a case has no numbers at all.
pub(crate) fn no_numbers(case: &CaseData<'_>) -> String {
    let failure = case
        .runs
        .iter()
        .find_map(|run| failed_run(&case.label, run));
    match failure {
        Some(failure) => {
            format!(
                "no completed run; first failure at {}: {}",
                failure.stage, failure.message
            )
        }
        None if case.runs.iter().any(|run| run.void) => {
            "no cycle of its carousels counts".to_owned()
        }
        None => "no measured step".to_owned(),
    }
}

pub(crate) fn failures(benchmark: &BenchmarkData<'_>) -> Vec<FailedRun> {
    let mut failures: Vec<FailedRun> = Vec::new();
    for case in &benchmark.cases {
        for failure in case
            .runs
            .iter()
            .filter_map(|run| failed_run(&case.label, run))
        {
            let key = |one: &FailedRun| (one.label.clone(), one.stage.clone(), one.message.clone());
            match failures
                .iter_mut()
                .find(|other| key(other) == key(&failure))
            {
                Some(other) => other.repetitions.extend(failure.repetitions),
                None => failures.push(failure),
            }
        }
    }
    failures
}

fn failed_run(label: &str, run: &RunData<'_>) -> Option<FailedRun> {
    let (stage, message, evidence) = match run.records.end.as_ref().map(|end| &end.outcome) {
        Some(Outcome::Completed) => return None,
        Some(Outcome::Failed(failure)) => (
            failure.stage.name(),
            failure.message.clone(),
            failure.details(),
        ),
        Some(Outcome::Interrupted) => (
            "interrupted",
            "the user stopped it".to_owned(),
            String::new(),
        ),
        None => (
            "killed",
            "its file has no last record".to_owned(),
            String::new(),
        ),
    };
    Some(FailedRun {
        label: label.to_owned(),
        repetitions: vec![run.repetition()],
        stage: stage.to_owned(),
        message,
        evidence,
    })
}
