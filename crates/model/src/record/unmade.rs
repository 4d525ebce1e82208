//! Runs that a session has not made.

use std::fmt;

/// A session that has not made all of its runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnmadeRuns {
    /// The runs that completed or failed.
    pub made: usize,
    /// The runs of the plan; if their number is not decided yet, those that are made in any case.
    pub planned: usize,
    /// Whether their number is decided.
    pub is_decided: bool,
}

/// A sentence without full stop.
impl fmt::Display for UnmadeRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at_least = if self.is_decided { "" } else { "at least " };
        write!(
            f,
            "{} of {at_least}{} runs are made, so numbers are missing or less sure than planned: \
             `bakeoff run SUITE --resume DIR` makes the rest",
            self.made, self.planned
        )
    }
}
