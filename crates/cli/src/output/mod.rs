//! Output: the documents of results, and texts for a terminal.

pub(crate) mod documents;
#[cfg(target_os = "linux")]
pub(crate) mod session;
pub(crate) mod text;
