//! Whole runs in turn, where contenders cannot be alive concurrently.

use std::borrow::Cow;

use super::{Plan, PlanOptions};
use crate::suite::{Carousel, Profile, StepOrder};

impl PlanOptions {
    /// The same without carousels, for this reason: [`Plan::no_carousels`].
    #[must_use]
    pub fn in_whole_runs(&self, why: String) -> Self {
        Self {
            no_carousels: Some(why),
            ..self.clone()
        }
    }
}

impl Plan {
    /// Whether contenders of this plan are alive concurrently.
    #[must_use]
    pub fn has_carousels(&self) -> bool {
        self.runs.iter().any(|run| run.carousel.is_some())
    }
}

/// Says that, and why, a session has whole runs.
#[must_use]
pub fn sentence(why: &str) -> String {
    format!("{why}: whole runs in turn instead of a carousel")
}

/// The profile that is planned.
pub(super) fn planned<'p>(profile: &'p Profile, options: &PlanOptions) -> Cow<'p, Profile> {
    match (profile.carousel, &options.no_carousels) {
        (Some(carousel), Some(_)) => Cow::Owned(whole(profile, carousel)),
        _ => Cow::Borrowed(profile),
    }
}

/// The same contenders, runs, warm-up and limits, with one step of the same connections, which is
/// as long as all slices of a contender together.
fn whole(profile: &Profile, carousel: Carousel) -> Profile {
    let before = profile.steps.len().saturating_sub(Carousel::STEPS);
    let mut steps = profile.steps[..before].to_vec();
    steps.extend(profile.steps.last().copied().map(|mut step| {
        step.duration *= carousel.cycles;
        step
    }));
    Profile {
        steps,
        step_order: StepOrder::Listed,
        carousel: None,
        ..profile.clone()
    }
}
