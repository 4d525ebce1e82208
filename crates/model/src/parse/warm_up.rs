//! Warm-up that lasts until a contender is warm: the key `warm-up` of a profile, and what a schema
//! cannot say about it.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::source::{KeyPath, Reading};
use crate::load::Pace;
use crate::suite::Step;
use crate::suite::warmth::{SLICES_MIN, TIME_MIN};
use crate::text::units::DurationText;

/// At least this long unless the profile says another.
const AT_LEAST_DEFAULT: Duration = Duration::from_secs(10);

/// How long a warm-up takes.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct WarmUpTable {
    /// The event that ends it.
    pub until: UntilName,
    /// The shortest time; `10s` unless given.
    pub at_least: Option<DurationText>,
    /// The longest time: a contender that is not warm by then is measured as it is, and its numbers
    /// are marked.
    pub at_most: DurationText,
}

/// The event that ends a warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum UntilName {
    /// Throughput does not rise any more, and next to nothing is compiled.
    Steady,
}

/// Lets the warm-up step right before the first measured one last until the contender is warm.
pub(super) fn until_warm(
    reading: &mut Reading<'_>,
    place: &KeyPath,
    table: &WarmUpTable,
    steps: &mut [Step],
    slice: Duration,
) {
    let UntilName::Steady = table.until;
    let (at_least, at_most) = (
        table
            .at_least
            .as_ref()
            .map_or(AT_LEAST_DEFAULT, |time| time.0),
        table.at_most.0,
    );
    if at_least > at_most {
        let message = format!("`{place}`: `at-least` is longer than `at-most`");
        let hint = "`at-least` is 10s unless given".to_owned();
        reading.complain(&place.key("at-least"), &message, Some(hint));
    }
    if at_most < TIME_MIN.max(slice.saturating_mul(SLICES_MIN)) {
        let message = format!("`{place}`: `at-most` is too short to see whether throughput rises");
        let hint = format!(
            "that takes {} s and {SLICES_MIN} slices",
            TIME_MIN.as_secs()
        );
        reading.complain(&place.key("at-most"), &message, Some(hint));
    }
    let leading = steps.iter().take_while(|step| step.warm_up).count();
    let index = leading.checked_sub(1);
    let measured: Vec<u32> = steps
        .iter()
        .filter(|step| !step.warm_up)
        .map(|step| step.connections)
        .collect();
    let Some(step) = index.and_then(|index| steps.get_mut(index)) else {
        let message = format!("`{place}`: there is no warm-up step before the measured ones");
        let hint = "name its connections: `warm-up = [64]` in `ladder`, or a `[[step]]` table \
                    with `warm-up = true`";
        reading.complain(place, &message, Some(hint.to_owned()));
        return;
    };
    let connections = step.connections;
    let problem = if step.pace == Pace::Closed {
        (!measured.contains(&connections))
            .then(|| format!("nothing is measured at the {connections} of the warm-up"))
    } else {
        Some("a rate does not show whether more would be possible".to_owned())
    };
    if let Some(problem) = problem {
        let message = format!("`{place}`: {problem}");
        let hint = "warm up with closed load at a concurrency that is measured".to_owned();
        reading.complain(place, &message, Some(hint));
    }
    (step.duration, step.at_least) = (at_most, Some(at_least));
}
