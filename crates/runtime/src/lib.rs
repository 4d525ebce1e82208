//! Starts, awaits, meters and stops what is measured: processes in their own cgroup, containers,
//! external services, and the backends behind them.
//!
//! Nothing here decides what is run, in which order, or what a number means: that is the
//! session's business. Nothing here prints. Every path, address and limit is an argument; the
//! environment is read in `build::cache_dir` and `build::toolchain` alone.

pub mod api;
pub mod backend;
pub mod docker;
pub mod meter;
pub mod ready;

pub use api::{
    BoxFuture, ExitInfo, Instance, ReadyError, Runtime, StartError, StartSpec, StopReport,
    SweepError,
};
