//! Contenders without a rank and runs that did not complete, with the reasons.

use bakeoff_model::record::failure::Stage;
use bakeoff_model::record::{Begin, Outcome};
use bakeoff_model::suite::conditions::RuntimeKind;

use crate::data::benchmark::{BenchmarkData, CaseData, RunData};
use crate::data::row::Row;
use crate::turns;

/// A contender without a rank.
#[derive(Debug, Clone, PartialEq)]
pub struct Unranked {
    /// Contender and parameters.
    pub label: String,
    /// Why it has no rank, a lower-case fragment.
    pub reason: String,
    /// The metrics of the contender, if there are any.
    pub row: Option<Row>,
}

/// Runs of one contender that did not complete, all for the same reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailedRun {
    /// Contender and parameters.
    pub label: String,
    /// Repetitions of the runs, from 1, ascending.
    pub repetitions: Vec<u32>,
    /// The stage of the failure; `interrupted` or `killed` if there is none.
    pub stage: String,
    /// The event.
    pub message: String,
    /// Last lines of the first run's log, or other evidence.
    pub evidence: String,
    /// The contender's log of the first run in the results folder; `None` if it had none.
    pub log: Option<String>,
}

impl FailedRun {
    /// Returns the runs as text: `run 2` or `runs 1, 3, 4`.
    pub fn runs_text(&self) -> String {
        let numbers: Vec<String> = self.repetitions.iter().map(u32::to_string).collect();
        let word = if numbers.len() == 1 { "run" } else { "runs" };
        format!("{word} {}", numbers.join(", "))
    }

    /// Returns the place of the log, `; its log is logs/ID.a1.log`; empty if there is none.
    pub fn log_text(&self) -> String {
        let log = self.log.as_ref();
        log.map_or_else(String::new, |log| format!("; its log is {log}"))
    }
}

/// Returns why a case has no numbers at all.
pub fn no_numbers(case: &CaseData<'_>) -> String {
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
            let why = case.runs.iter().find_map(turns::why_void);
            let why = why.map_or_else(String::new, |why| format!(", for example: {why}"));
            format!("no block of its sets counts{why}")
        }
        None if case.runs.iter().any(|run| run.is_apart) => {
            "the contender that is in every group has no number in its group, so it cannot be \
             compared with those of other groups"
                .to_owned()
        }
        None => "no measured step".to_owned(),
    }
}

/// Returns the failed runs of a benchmark.
pub fn failures(benchmark: &BenchmarkData<'_>) -> Vec<FailedRun> {
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
                Some(other) => {
                    // Two processes of a contender fail in one repetition.
                    other.repetitions.extend(failure.repetitions);
                    other.repetitions.dedup();
                }
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
        log: log(&run.records.begin, stage),
    })
}

/// Returns the path of the log of a contender that was started.
fn log(begin: &Begin, stage: &str) -> Option<String> {
    let before = [Stage::Build, Stage::Probe, Stage::Lifecycle].map(Stage::name);
    let started = !before.contains(&stage) && begin.runtime != RuntimeKind::External;
    started.then(|| format!("logs/{}.a{}.log", begin.run.id, begin.attempt))
}

/// Returns the reasons why contenders have no rank or runs were not completed, each with its
/// contender.
pub fn troubles(unranked: &[Unranked], failures: &[FailedRun]) -> Vec<(String, String)> {
    let failed = failures.iter().map(|failure| {
        let (runs, stage, message) = (failure.runs_text(), &failure.stage, &failure.message);
        let text = format!("{runs} failed at {stage}: {message}{}", failure.log_text());
        (failure.label.clone(), text)
    });
    let others = unranked
        .iter()
        .filter(|one| failures.iter().all(|failed| failed.label != one.label));
    let others = others.map(|one| (one.label.clone(), format!("not ranked: {}", one.reason)));
    failed.chain(others).collect()
}
