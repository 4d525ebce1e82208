//! What a schema cannot say about the carousel of a profile, and the steps that it stands for.

use std::time::Duration;

use super::raw::{CarouselTable, ProfileTable};
use super::source::{KeyPath, Reading};
use crate::load::Pace;
use crate::suite::Step;

/// Load before each slice that is not counted, unless the profile says another.
const DISCARD_DEFAULT: Duration = Duration::from_millis(200);

/// Complains about keys of the profile at `place` that a carousel replaces, and about a warm-up
/// that is said twice or nowhere.
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
    let inside = place.key("carousel");
    if carousel.warm_up.is_some() == table.warm_up.is_some() {
        let said = match carousel.warm_up {
            Some(_) => "two warm-ups",
            None => "no warm-up",
        };
        let message = format!("`{place}` has {said}");
        let hint = format!(
            "give `{inside}` a time, `warm-up = \"20s\"`, or `{place}` a table, `warm-up = {{ \
             until = \"steady\", at-most = \"120s\" }}`"
        );
        reading.complain(&inside, &message, Some(hint));
    }
    let discard = carousel.discard.as_ref();
    if discard.is_some_and(|discard| discard.0 > carousel.slice.0) {
        let place = inside.key("discard");
        let message = format!("`{place}`: more is discarded than measured");
        let hint = "a slice is `slice` long, after `discard`".to_owned();
        reading.complain(&place, &message, Some(hint));
    }
}

/// The warm-up, whose length may be said elsewhere, and the two steps of each cycle.
pub(super) fn steps(table: &CarouselTable) -> Vec<Step> {
    let discard = table.discard.as_ref();
    let step = |duration, warm_up| Step {
        connections: table.connections,
        duration,
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    let length = table.warm_up.as_ref();
    vec![
        step(length.map_or(Duration::ZERO, |length| length.0), true),
        step(discard.map_or(DISCARD_DEFAULT, |discard| discard.0), true),
        step(table.slice.0, false),
    ]
}
