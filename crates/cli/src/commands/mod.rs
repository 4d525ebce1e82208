//! One module a command. A command turns its arguments into what a library wants, calls it and
//! prints; it contains no rules about the meaning of a number.

pub(crate) mod audit;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod imported;
pub(crate) mod init;
pub(crate) mod judge;
#[cfg(target_os = "linux")]
pub(crate) mod linux;
pub(crate) mod man;
pub(crate) mod rank;
pub(crate) mod report;
pub(crate) mod schema;
