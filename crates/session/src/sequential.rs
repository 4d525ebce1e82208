//! Sessions that end as soon as every pair of contenders is decided: after every set of fresh
//! processes it is looked at what all sets show, by a test that holds however often one looks
//! ([`bakeoff_stats::Sequential`]). When the time is spent, or there may be no more sets, a last look
//! has the rest of the error.

use std::time::Duration;

use bakeoff_model::plan::Plan;
use bakeoff_model::record::Results;
use bakeoff_model::runs::{DecisionReason, RunsDecision, RunsUntil};
use bakeoff_report::{Analysis, Family, ReportInput};
use bakeoff_stats::{Budget, Decision, Sample, Sequential, log_ratios};

use crate::contracts::{LoadGenerator, PendingRun};
use crate::driver::{Driver, Part};
use crate::event::Observer;
use crate::pilot::{self, Decide};
use crate::store::session_file::SessionFile;

/// Plays sets until it is decided that there are enough. Returns how many runs were made.
pub(crate) async fn play<L: LoadGenerator>(
    driver: &Driver<'_, L>,
    session: &mut SessionFile,
    pending: &[PendingRun],
    decide: Decide<'_>,
    observer: &mut dyn Observer,
) -> anyhow::Result<usize> {
    let Some(asked) = session.plan.runs_until else {
        return Ok(0);
    };
    let mut left = pending;
    while let Some(first) = left.first() {
        let same = |one: &&PendingRun| one.run.repetition == first.run.repetition;
        let (set, rest) = left.split_at(left.iter().take_while(same).count());
        let part = Part {
            before: pending.len() - left.len(),
            runs: pending.len(),
        };
        driver.play_part(set, &part, observer).await?;
        left = rest;
        if let Some(decision) = decide(&session.plan, asked)? {
            observer.observe(&pilot::decided(&decision, &[]))?;
            session.decide(&decision);
            break;
        }
    }
    Ok(pending.len() - left.len())
}

/// What is decided from the records up to now; `None` while the session goes on.
pub(crate) fn decide(plan: &Plan, asked: RunsUntil, results: &Results) -> Option<RunsDecision> {
    let sets = results
        .runs
        .iter()
        .map(|run| run.begin.run.repetition)
        .max()?;
    let taken = pilot::taken(&results.runs, |_| true);
    let last = pilot::taken(&results.runs, |run| run.repetition == sets);
    let most = plan.runs.iter().map(|run| run.repetition).max();
    let analysis = Analysis::of(&ReportInput::new(results, ""));
    let because = because(
        &asked,
        &analysis.families(),
        &Spent {
            sets,
            most,
            taken,
            last,
        },
    )?;
    Some(RunsDecision {
        asked,
        pilot: sets,
        runs: sets,
        because,
        families: Vec::new(),
    })
}

/// What a session has spent.
struct Spent {
    sets: u32,
    /// The most sets that there may be.
    most: Option<u32>,
    /// Time of all sets.
    taken: Duration,
    /// Time of the last one.
    last: Duration,
}

fn because(asked: &RunsUntil, families: &[Family<'_>], spent: &Spent) -> Option<DecisionReason> {
    let over = match asked.within {
        Some(within) if spent.taken + spent.last > within => Some(DecisionReason::Within),
        _ if Some(spent.sets) >= spent.most => Some(DecisionReason::AtMost),
        _ => None,
    };
    let budget = match over {
        Some(_) => Budget::Spent,
        None => Budget::Left,
    };
    let is_open = |family: &&Family<'_>| {
        let pairs = pairs(&family.samples);
        let pairs: Vec<&[f64]> = pairs.iter().map(Vec::as_slice).collect();
        let looks = Sequential::default().look_family(&pairs, budget);
        looks.iter().any(|look| look.decision == Decision::GoOn)
    };
    let by_throughput = families.iter().filter(|family| family.is_throughput);
    match by_throughput.clone().count() {
        0 => over.map(|_| DecisionReason::NothingToCompare),
        _ if by_throughput.clone().any(|family| is_open(&family)) => over,
        _ => over.or(Some(DecisionReason::Decided)),
    }
}

/// The log ratios of all pairs, set by set.
fn pairs(samples: &[(&str, &Sample)]) -> Vec<Vec<f64>> {
    let mut pairs = Vec::new();
    for (place, (_, first)) in samples.iter().enumerate() {
        let others = samples[place + 1..].iter();
        pairs.extend(others.map(|(_, second)| log_ratios(first, second)));
    }
    pairs
}
