//! Recorded runs judged again by today's rules.

use std::collections::BTreeMap;

use bakeoff_base::number::as_f64;
use bakeoff_base::text::counted;
use bakeoff_model::record::{Begin, IntervalRecord, Moment, Outcome, Results, RunRecords};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::validity::{FairnessVerdict, Validity};

use super::{AuditFinding, FoundKind};
use crate::judge::{JudgedSlice, StepJudge};
use crate::record::evidence_of;
use crate::rules::UNFAIR_TIME_MAX;
use crate::work::logs_under_load;

/// Judges every recorded slice and every step of all completed runs again. Lists first the cases
/// whose runs have several builds, then the steps that are not fair enough to be ranked any more,
/// then the changed verdicts of slices; the latter two in the order of the runs.
#[must_use]
pub fn results(results: &Results) -> Vec<AuditFinding> {
    let completed = |run: &&RunRecords| {
        let outcome = run.end.as_ref().map(|end| &end.outcome);
        matches!(outcome, Some(Outcome::Completed))
    };
    let runs: Vec<&RunRecords> = results.runs.iter().filter(completed).collect();
    let unfair = runs.iter().flat_map(|run| {
        let steps = steps(run)
            .into_iter()
            .filter_map(|slices| unfair(run, &slices));
        steps.chain(silent(run))
    });
    let mixed = several_builds(&runs).into_iter();
    mixed.chain(unfair).chain(differences(&runs)).collect()
}

/// Returns the cases whose sample comes from several programs.
fn several_builds(runs: &[&RunRecords]) -> Vec<AuditFinding> {
    // Only the last attempt of a repeated run is in the sample.
    let last: BTreeMap<&str, &RunRecords> = runs
        .iter()
        .map(|run| (run.begin.run.id.as_str(), *run))
        .collect();
    let mut cases: BTreeMap<String, BTreeMap<&str, usize>> = BTreeMap::new();
    for begin in last.into_values().map(|run| &run.begin) {
        if let Some(digest) = &begin.artifact_digest {
            let builds = cases.entry(case(begin)).or_default();
            *builds.entry(digest).or_default() += 1;
        }
    }
    let several = cases.into_iter().filter(|(_, builds)| builds.len() > 1);
    let found = several.map(|(subject, builds)| {
        let each = builds
            .iter()
            .map(|(digest, runs)| format!("{} of {digest}", counted(*runs as u64, "run")));
        AuditFinding {
            kind: FoundKind::UnfairButRanked,
            subject,
            sentence: format!(
                "one sample of {} builds: {}",
                builds.len(),
                each.collect::<Vec<_>>().join(", ")
            ),
        }
    });
    found.collect()
}

fn case(begin: &Begin) -> String {
    let planned = &begin.run;
    format!("{}, {}", planned.benchmark, planned.process_label())
}

fn subject(run: &RunRecords) -> String {
    let (case, run) = (case(&run.begin), run.begin.run.repetition_text());
    format!("{case}, run {run}")
}

/// Returns the slices of each step, in order.
fn steps(run: &RunRecords) -> Vec<Vec<&IntervalRecord>> {
    // Open load after turns has its warm-up in the same step.
    let mut steps: BTreeMap<(usize, bool), Vec<&IntervalRecord>> = BTreeMap::new();
    for slice in &run.intervals {
        let step = (slice.load.step, slice.warm_up);
        steps.entry(step).or_default().push(slice);
    }
    steps.into_values().collect()
}

/// Returns a finding for a measured step that was recorded as one to be ranked, but is not by
/// today's rules.
fn unfair(run: &RunRecords, slices: &[&IntervalRecord]) -> Option<AuditFinding> {
    let first = slices.first().filter(|slice| !slice.warm_up)?;
    let length = |slice: &IntervalRecord| as_f64(slice.load.length_ns());
    let all: f64 = slices.iter().map(|slice| length(slice)).sum();
    let unranked = slices
        .iter()
        .filter(|slice| !slice.validity.verdict().ranks());
    let unranked: f64 = unranked.map(|slice| length(slice)).sum();
    let mut step = StepJudge::default();
    for slice in slices {
        step.add(&JudgedSlice::new(evidence_of(&run.begin, slice)));
    }
    let now = step.validity();
    (unranked <= all * UNFAIR_TIME_MAX && !now.verdict().ranks()).then(|| AuditFinding {
        kind: FoundKind::UnfairButRanked,
        subject: subject(run),
        sentence: format!("at {} connections: {now}", first.connections),
    })
}

/// Returns a finding for a run whose log did not grow with its requests although no check of the
/// time noticed.
fn silent(run: &RunRecords) -> Option<AuditFinding> {
    let at = |moment: Moment| {
        let reading = run.idle.iter().find(|idle| idle.moment == moment)?;
        reading.contender.as_ref()?.log_lines
    };
    let requests = run.intervals.iter().map(|slice| slice.load.requests).sum();
    let (before, after) = (at(Moment::Checked), at(Moment::AfterLoad));
    let (outcome, _) = logs_under_load(&run.begin.run.work, requests, before, after)?;
    let known = |name: &str| run.checks.iter().any(|check| check.name == name);
    match outcome {
        CheckOutcome::Bad { assertion } if !known("logs under load") => Some(AuditFinding {
            kind: FoundKind::UnfairButRanked,
            subject: subject(run),
            sentence: assertion,
        }),
        _ => None,
    }
}

/// Returns the slices whose verdict has changed, grouped by case and number of connections.
fn differences(runs: &[&RunRecords]) -> Vec<AuditFinding> {
    type Change = (String, u32, FairnessVerdict, FairnessVerdict);
    let mut changes: Vec<(Change, usize, Validity)> = Vec::new();
    for (run, slice) in runs
        .iter()
        .flat_map(|run| run.intervals.iter().map(move |slice| (run, slice)))
    {
        let now = JudgedSlice::new(evidence_of(&run.begin, slice)).validity;
        let (then, verdict) = (slice.validity.verdict(), now.verdict());
        if then == verdict {
            continue;
        }
        let change = (case(&run.begin), slice.connections, then, verdict);
        match changes.iter_mut().find(|(known, ..)| *known == change) {
            Some((_, count, _)) => *count += 1,
            None => {
                // The reasons for the worse of the two verdicts.
                let words = if verdict > then {
                    now
                } else {
                    slice.validity.clone()
                };
                changes.push((change, 1, words));
            }
        }
    }
    let found = |((case, connections, then, now), count, words): (Change, usize, Validity)| {
        let slices = match count {
            1 => format!("1 slice recorded as {then} is"),
            _ => format!("{count} slices recorded as {then} are"),
        };
        AuditFinding {
            kind: FoundKind::Differs,
            subject: case,
            sentence: format!("at {connections} connections: {slices} {now} now, as in {words}"),
        }
    };
    changes.into_iter().map(found).collect()
}
