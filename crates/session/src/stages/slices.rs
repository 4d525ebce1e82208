//! Recorded slices, and notes for readers about their steps.

use bakeoff_base::text::counted;
use bakeoff_model::load::{FleetReceipt, FleetRecord, LoadInterval};
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::{IntervalRecord, Record};
use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_model::validity::{Finding, Reason, Validity};
use bakeoff_places::Sampled;
use bakeoff_store::event::{self, Observer};

use crate::contracts::Halt;
use crate::ready_case::Case;

/// The readings at one boundary of a slice.
#[derive(Clone)]
pub(super) struct Reading {
    pub(super) contender: Sampled,
    pub(super) backend: Option<ResourceSample>,
}

/// Records what each of several load generators did in a step that is measured.
pub(super) fn record_fleet(
    case: &Case,
    step: usize,
    planned: &PlannedStep,
    receipt: FleetReceipt,
    observer: &mut dyn Observer,
) -> Result<(), Halt> {
    if planned.warm_up {
        return Ok(());
    }
    let record = Record::Fleet(FleetRecord { step, receipt });
    Ok(event::record(observer, case.run_id(), record)?)
}

/// A slice as it is recorded, before it is judged; `step` is its number in the plan.
pub(super) fn interval_record(
    step: usize,
    planned: &PlannedStep,
    mut load: LoadInterval,
    readings: [&Reading; 2],
) -> IntervalRecord {
    let [before, after] = readings;
    let host = after.contender.host.as_ref();
    let host = host.zip(before.contender.host.as_ref());
    // By the plan: they may be played in another order.
    load.step = step;
    IntervalRecord {
        connections: planned.connections,
        warm_up: planned.warm_up,
        warmth: None,
        others: None,
        unloaded: None,
        latency_rate_per_s: None,
        load,
        contender_before: Some(before.contender.resources.clone()),
        contender_after: Some(after.contender.resources.clone()),
        backend_before: before.backend.clone(),
        backend_after: after.backend.clone(),
        host: host.and_then(|(after, before)| after.since(before)),
        validity: Validity::fair(),
    }
}

/// Which step a note is about: `64 connections`, `warm-up, 1 connection`.
pub(super) fn at(step: &PlannedStep) -> String {
    let connections = counted(step.connections.into(), "connection");
    match step.warm_up {
        true => format!("warm-up, {connections}"),
        false => connections,
    }
}

/// Returns notes for the reader of the run about a step: evidence against its numbers, and every
/// diagnostic but those on metrics that were not read.
pub(super) fn notes_of(validity: &Validity, at: &str) -> Vec<String> {
    let told = |reason: &&Reason| {
        !matches!(
            reason.finding,
            Finding::NotMetered { .. } | Finding::NotRecorded { .. }
        )
    };
    let words = |reason: &Reason| format!("{at}: {reason}");
    validity.reasons().iter().filter(told).map(words).collect()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bakeoff_model::load::Pace;
    use bakeoff_model::suite::Step;

    use super::at;

    #[test]
    fn a_note_says_which_step_it_is_about() {
        let step = |connections, warm_up| Step {
            connections,
            duration: Duration::from_secs(1),
            pace: Pace::Closed,
            warm_up,
            at_least: None,
        };
        assert_eq!(at(&step(1, true)), "warm-up, 1 connection");
        assert_eq!(at(&step(64, false)), "64 connections");
    }
}
