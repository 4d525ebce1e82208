//! Problems of this crate as `anyhow` errors, so that the code that shows an error places its
//! hints.

use std::fmt;

use crate::problem::Problem;

/// An error with a hint.
pub fn hinted(message: impl fmt::Display, hint: impl fmt::Display) -> anyhow::Error {
    Problem::new(message).with_hint(hint).into()
}

/// An error of another crate with its hints.
pub fn with_hints(error: impl Into<Problem>) -> anyhow::Error {
    error.into().into()
}
