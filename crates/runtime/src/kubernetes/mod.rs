//! Contenders as Pods of a Kubernetes cluster.
//!
//! Everything that speaks HTTP to a Pod runs in a Pod: Pod addresses need not be reachable from
//! where the session is. The session talks to the API server alone: it starts Pods, and executes
//! this program's own subcommands in them, whose lines travel over the API server's `exec`.

mod cluster;
mod error;
mod exec;
mod image;
mod inside;
mod instance;
mod manifest;
mod nodes;
mod pods;
mod runtime;
mod session;
mod state;
mod watch;

pub use cluster::Cluster;
pub use error::ClusterError;
pub use exec::Attached;
pub use image::PodImage;
pub use inside::serve;
pub use manifest::manifest;
pub use nodes::{Node, Nodes};
pub use runtime::{BackendPod, KubernetesRuntime, Order};
