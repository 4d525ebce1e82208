//! Starts, awaits, meters and stops what is measured: processes in their own cgroup, here or on
//! another host, containers, Pods, external services, and the backends behind them.
//!
//! Nothing here decides what is run, in which order, or what a number means: that is the
//! session's business. Nothing here prints. Paths, addresses and limits are arguments; what is read
//! from the environment is where the cache, the toolchains and the folder for temporary files are,
//! and the four variables that every contender inherits.

pub mod api;
pub mod backend;
pub mod build;
mod cgroup;
mod clock_offset;
pub mod docker;
mod dynamic_libraries;
pub mod external;
mod first_call;
pub mod flame;
pub mod host;
pub mod http;
pub mod kubernetes;
mod log;
pub mod meter;
mod ownership;
pub mod process;
pub mod ready;
mod round_trip;
pub mod ssh;
pub mod sweep;
mod wire;

pub use self::log::last_lines;
pub use api::{
    BoxFuture, ContainerOptions, ExitInfo, Instance, ReadyError, Runtime, Sampled, StartError,
    StartSpec, StopReport, SweepError,
};
pub use wire::{Spoken, Wire};
