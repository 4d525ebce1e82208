//! This program elsewhere: in a Pod, or on another host. One request a line, one reply a line, over
//! whatever carries lines: the API server's `exec`, or `ssh`.

pub(crate) mod client;
mod pod;
mod process;
pub(crate) mod protocol;
mod server;
mod sidecar;
mod watch;

pub use crate::remote::server::serve;

/// The subcommand that serves requests.
pub(crate) const SERVE: &str = "remote";
/// This program in its own image.
pub(crate) const PROGRAM: &str = "/bakeoff";
/// The recordings in that image.
pub(crate) const RECORDINGS: &str = "/recordings";
/// The folder in which backends and load generators may write in their Pods.
pub(crate) const SCRATCH: &str = "/tmp";
/// The folder in which a meter sees the cgroup files of its node.
pub(crate) const CGROUP_MOUNT: &str = "/host/cgroup";
