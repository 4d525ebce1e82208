//! Errors with a hint: what to do about it, kept apart from what happened, so that what shows
//! the error decides where the hint stands.

use std::fmt;

use bakeoff_runtime::kubernetes::ClusterError;

/// A message and what to do about it.
#[derive(Debug)]
pub struct Hinted {
    message: String,
    hint: String,
}

impl Hinted {
    /// Returns the remedy.
    #[must_use]
    pub fn hint(&self) -> &str {
        &self.hint
    }
}

impl fmt::Display for Hinted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Hinted {}

/// An error of a cluster, with its hint.
pub fn of_cluster(error: ClusterError) -> anyhow::Error {
    let hint = error.hint().map(ToString::to_string);
    with_hint(error, hint)
}

/// An error with its own hint, where it has one.
pub(crate) fn with_hint(
    error: impl std::error::Error + Send + Sync + 'static,
    hint: Option<impl fmt::Display>,
) -> anyhow::Error {
    match hint {
        Some(hint) => hinted(error, hint),
        None => error.into(),
    }
}

/// An error with a hint.
pub fn hinted(message: impl fmt::Display, hint: impl fmt::Display) -> anyhow::Error {
    anyhow::Error::new(Hinted {
        message: message.to_string(),
        hint: hint.to_string(),
    })
}
