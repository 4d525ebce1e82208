//! The outcome of the checks, over all runs of a case.

use bakeoff_model::check::CheckOutcome;
use bakeoff_model::record::CheckRecord;

use super::benchmark::{BenchmarkData, CaseData};

/// The group of checks of starting, logging and stopping; all others are functional.
const LIFECYCLE: &str = "lifecycle";
/// The lifecycle checks that unrank: whether the service survived the load, and whether it did
/// under load what it does before.
const UNRANKING: [&str; 2] = ["alive at the end", "logs under load"];

/// Checks that held, of those that apply.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CheckCount {
    /// How many held in every run.
    pub good: usize,
    /// How many apply.
    pub total: usize,
}

/// One check of one case, over its runs.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckCell {
    /// The record to show: the first that is not good, else the first.
    pub shown: CheckRecord,
    /// Runs in which it was not good.
    pub bad_runs: usize,
    /// Runs in which it was made.
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

    /// Whether a failure takes the case out of the ranking: it did other work than the rest, or
    /// did not survive it.
    fn unranks(&self) -> bool {
        !self.good()
            && (self.shown.group != LIFECYCLE || UNRANKING.contains(&self.shown.name.as_str()))
    }

    /// The failure in one line.
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
    /// For each case, a cell for each name; `None` where the check was never made.
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

    /// The checks of the case of that index that were made.
    fn made(&self, case: usize) -> impl Iterator<Item = &CheckCell> {
        self.cases.get(case).into_iter().flatten().flatten()
    }

    /// Functional and lifecycle checks of a case that held.
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

    /// Why the checks keep the case out of the ranking; `None` when they do not.
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

/// Groups and names of all checks of a benchmark, in the order in which they were made.
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

/// One check of one case; `None` when it was never made.
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
