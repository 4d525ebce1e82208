//! What a reader of a run is told about its steps.

use bakeoff_base::text::counted;
use bakeoff_model::suite::Step as PlannedStep;
use bakeoff_model::validity::{Finding, Reason, Validity};

/// Which step a note is about: `64 connections`, `warm-up, 1 connection`.
pub(super) fn at(step: &PlannedStep) -> String {
    let connections = counted(step.connections.into(), "connection");
    match step.warm_up {
        true => format!("warm-up, {connections}"),
        false => connections,
    }
}

/// What a reader of the run should know about a step: what speaks against its numbers, and every
/// diagnostic but those on figures that nobody meant to read.
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
