//! Starts, awaits, meters and stops what is measured: processes in their own cgroup, here or on
//! another host, containers, Pods, external services, and the backends behind them.
//!
//! Nothing here decides what is run, in which order, or what a number means: that is the
//! session's business. Nothing here prints. Paths, addresses and limits are arguments; what is read
//! from the environment is where the cache, the toolchains and the folder for temporary files are,
//! and the four variables that every contender inherits.

pub mod abilities;
pub mod api;
pub mod ceiling;
mod cgroup;
pub mod client;
mod clock_offset;
mod container_start;
pub mod contender;
pub mod contracts;
pub mod docker;
mod dynamic_libraries;
pub mod external;
mod first_call;
pub mod flame;
pub mod fleet;
pub mod host;
pub mod http;
pub mod images;
pub mod kubernetes;
pub mod load_generator;
pub mod local;
pub mod meter;
mod ownership;
pub mod place;
pub mod ready;
pub mod remote;
mod round_trip;
pub mod services;
pub mod ssh;
pub mod sweep;
pub mod this_host;
mod wire;

pub use api::{
    BoxFuture, ContainerOptions, ExitInfo, Health, HealthState, Instance, ReadyError, Runtime,
    Sampled, StartError, StartSpec, StopReport, SweepError,
};
pub use wire::{Spoken, Wire};
