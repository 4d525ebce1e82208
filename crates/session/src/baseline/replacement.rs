//! Sets that were lost to the host: of each no block counts, while others of its benchmark have
//! some. It is played once more, as the next attempt at its runs. The result of the comparison is
//! not considered, so this favours neither side. If the results of the sets decided their number,
//! none is repeated: that would add data after the decision to end.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bakeoff_analysis::{Analysis, AnalysisInput, SetCount, Sets};
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::{Outcome, Results};
use bakeoff_model::text::duration_ns;
use bakeoff_store::event::{Event, Observer};
use bakeoff_store::results;
use bakeoff_store::session_file::SessionFile;

use crate::contracts::PendingRun;
use crate::driver::{Driver, RunRange};

/// Plays the lost sets of a results folder once more, after the `made` runs of the session;
/// the number of runs then.
pub(crate) async fn play(
    driver: &Driver<'_>,
    session: &SessionFile,
    folder: &Path,
    made: usize,
    observer: &mut dyn Observer,
) -> anyhow::Result<usize> {
    let lost = lost(session, &results::read_records(folder)?);
    play_again(driver, &lost, made, observer).await
}

/// Plays these runs after the others, and says so.
pub(crate) async fn play_again(
    driver: &Driver<'_>,
    lost: &[PendingRun],
    made: usize,
    observer: &mut dyn Observer,
) -> anyhow::Result<usize> {
    if lost.is_empty() {
        return Ok(made);
    }
    let sets: BTreeSet<BenchmarkSet<'_>> = lost.iter().map(|one| place(&one.run)).collect();
    observer.observe(&Event::SetsReplaced {
        sets: sets.len(),
        expected_ns: duration_ns::whole(lost.iter().map(|one| one.run.expected).sum()),
    })?;
    let part = RunRange {
        before: made,
        runs: made + lost.len(),
    };
    driver.play_part(lost, &part, observer).await?;
    Ok(part.runs)
}

/// The runs of lost sets that were played once, in the order of the plan.
pub(crate) fn lost(session: &SessionFile, results: &Results) -> Vec<PendingRun> {
    let decision = session.runs_decision.as_ref();
    if decision.is_some_and(|decision| decision.asked.sequential) {
        return Vec::new();
    }
    let mut attempts: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for records in &results.runs {
        let (attempt, completed) = attempts.entry(&records.begin.run.id).or_default();
        *attempt = records.begin.attempt.max(*attempt);
        let outcome = records.end.as_ref().map(|end| &end.outcome);
        *completed += u32::from(outcome == Some(&Outcome::Completed));
    }
    let analysis = Analysis::of(&AnalysisInput::new(results, ""));
    let lost: BTreeSet<BenchmarkSet<'_>> = analysis
        .loads
        .iter()
        .flat_map(|load| {
            let name = load.summary.name.as_str();
            let sets = load.summary.sets.iter();
            sets.flat_map(lost_of)
                .map(move |(repetition, group)| (name, repetition, group))
        })
        .collect();
    let again = session.plan.runs.iter().filter_map(|run: &PlannedRun| {
        let (attempt, completed) = attempts.get(run.id.as_str()).copied()?;
        let is_lost = lost.contains(&place(run));
        (is_lost && completed == 1).then(|| PendingRun {
            run: run.clone(),
            attempt: attempt + 1,
        })
    });
    again.collect()
}

/// The benchmark, repetition and group of a set.
type BenchmarkSet<'a> = (&'a str, u32, Option<u32>);

fn place(run: &PlannedRun) -> BenchmarkSet<'_> {
    (run.benchmark.as_str(), run.repetition, run.group)
}

/// Returns the repetitions and groups without a block that counts; nothing if no set has one,
/// because the next set would be lost as well.
fn lost_of(sets: &Sets) -> Vec<(u32, Option<u32>)> {
    let is_lost = |count: &&SetCount| count.blocks > 0 && count.kept == 0;
    if sets.each.iter().all(|count| is_lost(&count)) {
        return Vec::new();
    }
    let lost = sets.each.iter().filter(is_lost);
    lost.map(|count| (count.repetition, count.group)).collect()
}
