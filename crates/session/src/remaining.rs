//! The remaining runs of a session.

use std::path::Path;

use bakeoff_base::hint::hinted;
use bakeoff_model::plan::{Plan, PlannedRun};
use bakeoff_model::text::duration_ns;
use bakeoff_store::event::Event;
use bakeoff_store::results::{self, Progress};
use bakeoff_store::session_file::SessionFile;

use crate::contracts::PendingRun;

/// Runs that are neither completed nor failed, in order, with their next attempt. Sets are made
/// again as a whole: their runs are compared with each other, block by block.
pub(crate) fn pending(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<PendingRun>> {
    let progress = results::progress(folder)?;
    let of = |run: &PlannedRun| progress.get(&run.id).copied().unwrap_or_default();
    let pending = plan.runs.iter().filter_map(|run| {
        let beside = plan.runs.iter().filter(|other| run.is_beside(other));
        let all: Vec<Progress> = beside.map(of).collect();
        let own = of(run);
        let last = all.iter().map(|one| one.attempts).max();
        let last = last.unwrap_or(own.attempts);
        let together = all.iter().all(|one| one.finished == Some(last));
        (own.finished.is_none() || !together).then(|| PendingRun {
            run: run.clone(),
            attempt: last + 1,
        })
    });
    Ok(pending.collect())
}

/// Refuses a contender that is another build than the one which its finished runs measured: they
/// would be one sample of two programs. Runs that are made again count for nothing.
pub(crate) fn same_builds<'d>(
    folder: &Path,
    pending: &[PendingRun],
    digest: impl Fn(&str) -> Option<&'d String>,
) -> anyhow::Result<()> {
    let former = results::read_records(folder)?;
    let is_again = |id: &str| pending.iter().any(|one| one.run.id == id);
    let finished = former.runs.iter().filter(|run| results::is_finished(run));
    for begin in finished.map(|run| &run.begin) {
        let name = &begin.run.contender;
        let both = begin.artifact_digest.as_ref().zip(digest(name));
        if both.is_some_and(|(then, now)| then != now) && !is_again(&begin.run.id) {
            return Err(hinted(
                format_args!(
                    "{name}: it has changed since the session started: its finished runs \
                     measured another build"
                ),
                "their numbers could not be compared; restore what was built then, or start a new \
                 session",
            ));
        }
    }
    Ok(())
}

/// Returns what a sitting leaves to the next one: of this session, and the sessions of rounds that
/// have not started.
pub(crate) fn sitting_ended(
    top: &Path,
    folder: &Path,
    session: SessionFile,
    later: &[Plan],
) -> anyhow::Result<Event> {
    let left = Plan {
        runs: pending(&session.plan, folder)?
            .into_iter()
            .map(|one| one.run)
            .collect(),
        ..session.plan
    };
    let all = || std::iter::once(&left).chain(later);
    Ok(Event::SittingEnded {
        suite: session.suite_folder,
        resume: top.to_owned(),
        runs: all().map(|plan| plan.runs.len()).sum(),
        expected_ns: duration_ns::whole(all().map(Plan::expected).sum()),
        shortest_ns: duration_ns::whole(all().map(Plan::shortest).sum()),
    })
}
