//! What a schema cannot say about the carousel of a profile, and the steps that it stands for.

use std::time::Duration;

use super::raw::{CarouselTable, ProfileTable};
use super::source::{KeyPath, Reading};
use crate::load::Pace;
use crate::suite::Step;

/// Load before each slice that is not counted, unless the profile says another.
const DISCARD_DEFAULT: Duration = Duration::from_millis(200);

/// Complains about keys of the profile at `place` that a carousel replaces.
pub(super) fn alone(reading: &mut Reading<'_>, place: &KeyPath, table: &ProfileTable) {
    let Some(carousel) = &table.carousel else {
        return;
    };
    let others = [
        ("ladder", table.ladder.is_some()),
        ("step", !table.step.is_empty()),
    ];
    for (key, _) in others.iter().filter(|(_, given)| *given) {
        let message = format!("`{place}` has both `carousel` and `{key}`");
        let hint = "keep the one that is meant; two profiles can have both".to_owned();
        reading.complain(&place.key(key), &message, Some(hint));
    }
    if table.slice.is_some() {
        let message = format!("`{place}`: the slices of a carousel are as long as it says");
        let hint = format!(
            "write the length into `{}`",
            place.key("carousel").key("slice")
        );
        reading.complain(&place.key("slice"), &message, Some(hint));
    }
    let discard = carousel.discard.as_ref();
    if discard.is_some_and(|discard| discard.0 > carousel.slice.0) {
        let place = place.key("carousel").key("discard");
        let message = format!("`{place}`: more is discarded than measured");
        let hint = "a slice is `slice` long, after `discard`".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
}

/// The warm-up, and the two steps of each cycle.
pub(super) fn steps(table: &CarouselTable) -> Vec<Step> {
    let discard = table.discard.as_ref();
    let step = |duration, warm_up| Step {
        connections: table.connections,
        duration,
        pace: Pace::Closed,
        warm_up,
    };
    vec![
        step(table.warm_up.0, true),
        step(discard.map_or(DISCARD_DEFAULT, |discard| discard.0), true),
        step(table.slice.0, false),
    ]
}
