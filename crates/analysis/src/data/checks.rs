//! The outcome of the checks over all runs of a case.

use bakeoff_model::record::CheckRecord;
use bakeoff_model::request::check::CheckOutcome;

use super::benchmark::{BenchmarkData, CaseData};

/// The group of checks for starting, logging and stopping; all others are functional.
const LIFECYCLE: &str = "lifecycle";
/// The lifecycle checks that unrank: whether the service survived the load, and whether it logged
/// under load as before.
const UNRANKING: [&str; 2] = ["alive at the end", "logs under load"];

/// Passed checks, of those that apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckCount {
    /// Number of checks that passed in every run.
    pub good: usize,
    /// Number of checks that apply.
    pub total: usize,
}

/// One check of one case, over its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckCell {
    /// The record to show: the first that did not pass, else the first.
    pub shown: CheckRecord,
    /// Runs in which the check did not pass.
    pub bad_runs: usize,
    /// Runs in which the check was made.
    pub runs: usize,
}

impl CheckCell {
    /// Returns whether the check applies to the contender.
    pub fn applies(&self) -> bool {
        !matches!(self.shown.outcome, CheckOutcome::NotApplicable { .. })
    }

    /// Returns whether all checks of the cell passed.
    pub fn good(&self) -> bool {
        self.bad_runs == 0
    }

    /// Whether a failure excludes the case from the ranking: it did different work from the others,
    /// or did not survive the load.
    fn unranks(&self) -> bool {
        !self.good()
            && (self.shown.group != LIFECYCLE || UNRANKING.contains(&self.shown.name.as_str()))
    }

    /// Returns the failure in one line.
    pub fn failure(&self) -> Option<String> {
        let what = match &self.shown.outcome {
            CheckOutcome::Bad { assertion } => assertion.clone(),
            CheckOutcome::ConnErr { message } => format!("no response: {message}"),
            CheckOutcome::Good | CheckOutcome::NotApplicable { .. } => return None,
        };
        let some = format!(" (in {} of {} runs)", self.bad_runs, self.runs);
        Some(if self.bad_runs < self.runs {
            what + &some
        } else {
            what
        })
    }
}

/// All checks of a benchmark over its cases.
#[derive(Debug)]
pub struct CheckTable {
    /// Groups and names in the order in which they were made, groups together.
    pub names: Vec<(String, String)>,
    /// A cell for each name, for each case; `None` if the check was never made.
    pub cases: Vec<Vec<Option<CheckCell>>>,
}

impl CheckTable {
    /// Counts the checks of each contender.
    pub fn new(benchmark: &BenchmarkData<'_>) -> Self {
        let names = names(benchmark);
        let cells = |case: &CaseData<'_>| {
            let cell = |(group, name): &(String, String)| cell(case, group, name);
            names.iter().map(cell).collect()
        };
        Self {
            cases: benchmark.cases.iter().map(cells).collect(),
            names,
        }
    }

    /// Returns the checks of the case with that index that were made.
    fn made(&self, case: usize) -> impl Iterator<Item = &CheckCell> {
        self.cases.get(case).into_iter().flatten().flatten()
    }

    /// Returns the passed functional and lifecycle checks of a case.
    pub fn counts(&self, case: usize) -> (CheckCount, CheckCount) {
        let mut counts = (CheckCount::default(), CheckCount::default());
        for cell in self.made(case).filter(|cell| cell.applies()) {
            let lifecycle = cell.shown.group == LIFECYCLE;
            let count = if lifecycle {
                &mut counts.1
            } else {
                &mut counts.0
            };
            count.total += 1;
            count.good += usize::from(cell.good());
        }
        counts
    }

    /// Returns why the checks exclude the case from the ranking; `None` if they do not.
    pub fn reason_unranked(&self, case: usize) -> Option<String> {
        let failed: Vec<&CheckCell> = self.made(case).filter(|cell| cell.unranks()).collect();
        let first = failed.first()?;
        let what = first.failure().unwrap_or_default();
        let more = match failed.len() - 1 {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(format!(
            "check {}/{} failed: {what}{more}",
            first.shown.group, first.shown.name
        ))
    }
}

/// Returns groups and names of all checks of a benchmark, in the order in which they were made.
fn names(benchmark: &BenchmarkData<'_>) -> Vec<(String, String)> {
    let mut names: Vec<(String, String)> = Vec::new();
    let runs = benchmark.cases.iter().flat_map(|case| &case.runs);
    for check in runs.flat_map(|run| &run.records.checks) {
        let name = (check.group.clone(), check.name.clone());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    // Groups stay together even when a later run adds a check to an earlier group.
    let order: Vec<String> = names.iter().map(|(group, _)| group.clone()).collect();
    names.sort_by_key(|(group, _)| order.iter().position(|other| other == group));
    names
}

/// Returns one check of one case; `None` if it was never made.
fn cell(case: &CaseData<'_>, group: &str, name: &str) -> Option<CheckCell> {
    let made: Vec<&CheckRecord> = case
        .runs
        .iter()
        .filter_map(|run| {
            run.records
                .checks
                .iter()
                .rfind(|check| check.group == group && check.name == name)
        })
        .collect();
    let bad = |check: &&&CheckRecord| {
        matches!(
            check.outcome,
            CheckOutcome::Bad { .. } | CheckOutcome::ConnErr { .. }
        )
    };
    let shown = made.iter().find(bad).or(made.first())?;
    Some(CheckCell {
        shown: (*shown).clone(),
        bad_runs: made.iter().filter(bad).count(),
        runs: made.len(),
    })
}
