//! The stages of a run, one module each, and the kinds of runs that are made of them.

pub(crate) mod capacity;
pub mod cold_start;
pub mod lifecycle;
pub mod load_spec;
pub mod measure;
mod probe;
pub mod rows;
pub mod run;
mod slices;
pub mod start;
pub mod verify;
mod work;
