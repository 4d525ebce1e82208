//! Contenders as Pods of a Kubernetes cluster.
//!
//! Everything that speaks HTTP to a Pod runs in a Pod: Pod addresses need not be reachable from
//! where the session is. The session talks to the API server alone: it starts Pods, and executes
//! this program's own subcommands in them, whose lines travel over the API server's `exec`.

mod cluster;
mod pods;
mod session;

pub use cluster::connection::Cluster;
pub use cluster::deployment::Deployed;
pub use cluster::error::ClusterError;
pub use cluster::manifest::manifest;
pub use cluster::nodes::{Node, Nodes};
pub use pods::exec::Attached;
pub use pods::image::PodImage;
pub use pods::node_image::{NodeImage, Pull};
pub use session::backend::BackendPod;
pub use session::generators::{LEAD, LoadPods};
pub use session::runtime::{ClusterRequest, KubernetesRuntime};
