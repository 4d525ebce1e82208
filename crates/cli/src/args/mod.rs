//! Arguments that several commands have.

mod imported;
#[cfg(target_os = "linux")]
pub(crate) mod linux;

pub(crate) use imported::ImportedArgs;
