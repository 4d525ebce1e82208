//! Input and outcome of decisions about the number of runs: the time that runs took, and the event
//! that reports a decision.

use std::time::Duration;

use bakeoff_model::plan::{Plan, PlannedRun};
use bakeoff_model::record::RunRecords;
use bakeoff_model::suite::run_count::{RunsDecision, RunsUntil};
use bakeoff_model::text::duration_ns;
use bakeoff_store::event::Event;
use jiff::Timestamp;

use crate::contracts::PendingRun;

/// Decides from what is recorded up to now.
pub(crate) type Decide<'a> = &'a dyn Fn(&Plan, RunsUntil) -> anyhow::Result<Standing>;

/// How a session stands.
#[derive(Debug)]
pub(crate) enum Standing {
    /// The number of runs is decided.
    Decided(RunsDecision),
    /// Too early to decide; an event on what is known.
    Open(Option<Event>),
}

/// Reports the decision on the number of runs, of which these are left.
pub(crate) fn decided(decision: &RunsDecision, left: &[PendingRun]) -> Event {
    let sum = |time: fn(&PlannedRun) -> Duration| -> u64 {
        duration_ns::whole(left.iter().map(|one| time(&one.run)).sum())
    };
    Event::RunsDecided {
        decision: Box::new(decision.clone()),
        runs: left.len(),
        expected_ns: sum(|run| run.expected),
        shortest_ns: sum(PlannedRun::shortest),
    }
}

/// The time that the chosen runs took, from the start to the end of their last attempts. Those of a
/// set are alive concurrently, so of them it is from the first start to the last end.
pub(crate) fn taken(runs: &[RunRecords], is_chosen: impl Fn(&PlannedRun) -> bool) -> Duration {
    let mut whole = Duration::ZERO;
    let mut last: Option<(&RunRecords, Timestamp, Timestamp)> = None;
    // Attempts at a run follow each other.
    let is_last = |place: usize, run: &RunRecords| {
        let next = runs.get(place + 1);
        next.is_none_or(|next| next.begin.run.id != run.begin.run.id)
    };
    for (place, run) in runs.iter().enumerate() {
        if !is_last(place, run) || !is_chosen(&run.begin.run) {
            continue;
        }
        let end = run.end.as_ref().map(|end| end.at.parse::<Timestamp>());
        let (Ok(begin), Some(Ok(end))) = (run.begin.at.parse::<Timestamp>(), end) else {
            continue;
        };
        last = match last {
            Some((first, from, to)) if run.begin.run.is_beside(&first.begin.run) => {
                Some((first, from.min(begin), to.max(end)))
            }
            other => {
                whole += other.map_or(Duration::ZERO, |(_, from, to)| between(from, to));
                Some((run, begin, end))
            }
        };
    }
    whole + last.map_or(Duration::ZERO, |(_, from, to)| between(from, to))
}

fn between(from: Timestamp, to: Timestamp) -> Duration {
    Duration::try_from(to.duration_since(from)).unwrap_or_default()
}
