//! How much of a session a terminal shows.

/// How much is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Errors and the end.
    Errors,
    /// Of contenders that take turns one line for each set, otherwise everything.
    Sets,
    /// Every run, step and note.
    Everything,
}

impl Shown {
    /// Nothing but errors if standard output is for programs.
    pub(crate) fn with_json(json: bool) -> Self {
        if json { Self::Errors } else { Self::Sets }
    }
}
