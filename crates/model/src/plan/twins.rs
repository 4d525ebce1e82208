//! What second processes of contenders change about the number of runs.

use std::collections::BTreeMap;

use super::{Plan, PlannedRun};
use crate::suite::run_count::PILOT_RUNS;

impl Plan {
    /// The runs that are made in any case: all, or those of a pilot and the cold starts. Sets with
    /// two processes of each contender may be decided after two.
    pub fn certain(&self) -> impl Iterator<Item = &PlannedRun> {
        let has_twins = all_have_twins(self.runs.iter());
        let certain = self
            .runs_until
            .map(|until| match until.sequential && has_twins {
                true => PILOT_RUNS - 1,
                false => PILOT_RUNS,
            });
        let runs = self.runs.iter();
        runs.filter(move |run| {
            !run.is_decided() || certain.is_none_or(|certain| run.repetition <= certain)
        })
    }
}

/// Whether every case of the loads among these runs has a second process.
pub fn all_have_twins<'r>(runs: impl Iterator<Item = &'r PlannedRun>) -> bool {
    let mut cases: BTreeMap<(&str, String), bool> = BTreeMap::new();
    for run in runs.filter(|run| run.kind.is_load()) {
        let has_twin = cases.entry((&run.benchmark, run.case_label())).or_default();
        *has_twin |= run.twin;
    }
    !cases.is_empty() && cases.values().all(|has_twin| *has_twin)
}
