//! Rules for the key `turn` of a profile that a schema cannot express.

use std::time::Duration;

use super::source::{KeyPath, Reading};
use crate::suite::Step;

/// In a shorter turn the drain is most of it.
const SHORTEST: Duration = Duration::from_millis(5);

/// Complains about a length of turns that makes no sense, given whether the profile has whole runs.
pub(super) fn fixed(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    (turn, whole_runs): (Duration, bool),
    steps: &[Step],
) {
    let measured = steps.iter().filter(|step| !step.warm_up);
    let shortest_step = measured.map(|step| step.duration).min();
    let wrong = if whole_runs {
        Some(("there are no turns in `whole-runs`", "keep one of the two"))
    } else if turn < SHORTEST {
        Some((
            "it is shorter than 5ms",
            "turns of 20ms to 500ms make sense",
        ))
    } else if shortest_step.is_some_and(|step| turn > step) {
        let hint = "turns of 20ms to 500ms make sense";
        Some(("it is longer than a measured step", hint))
    } else {
        None
    };
    if let Some((wrong, hint)) = wrong {
        let message = format!("`{place}`: {wrong}");
        reading.complain(place, &message, Some(hint.to_owned()));
    }
}
