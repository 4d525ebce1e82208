//! The stages of a run, one module each, and the kinds of runs that combine them.

pub(crate) mod capacity;
pub mod cold_start;
pub mod lifecycle;
pub mod load_run;
pub mod load_spec;
mod log_growth;
pub mod measure;
mod probe;
pub mod row_count;
mod slices;
pub mod start;
pub mod verify;
