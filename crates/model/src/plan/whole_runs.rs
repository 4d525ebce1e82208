//! Whole runs, one after the other, for contenders that cannot be alive concurrently.

use super::{Plan, PlanOptions};

impl PlanOptions {
    /// Returns the options with whole runs; `why` becomes [`Plan::no_turns`].
    #[must_use]
    pub fn in_whole_runs(&self, why: String) -> Self {
        Self {
            no_turns: Some(why),
            ..self.clone()
        }
    }
}

impl Plan {
    /// Whether contenders of this plan take turns.
    #[must_use]
    pub fn has_turns(&self) -> bool {
        self.runs.iter().any(|run| run.in_turns)
    }
}

/// Says that, and why, a session has whole runs.
#[must_use]
pub fn sentence(why: &str) -> String {
    format!("{why}: whole runs one after the other instead of turns")
}
