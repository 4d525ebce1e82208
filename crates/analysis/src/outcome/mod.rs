//! The outcome of a session: conclusions, verdicts, winners, warnings, and what another session
//! found.

pub(crate) mod answered;
pub mod conclusion;
pub(crate) mod families;
pub mod sessions;
pub(crate) mod verdict;
pub(crate) mod warnings;
pub(crate) mod winner;
