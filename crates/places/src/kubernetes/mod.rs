//! Contenders as Pods of a Kubernetes cluster.
//!
//! Everything that speaks HTTP to a Pod runs in a Pod: Pod addresses need not be reachable from
//! where the session is. The session talks to the API server alone: it starts Pods, and executes
//! this program's own subcommands in them, whose lines travel over the API server's `exec`.

mod backend;
mod cluster;
mod deployment;
mod error;
mod events;
mod exec;
mod forward;
mod generators;
mod image;
mod instance;
mod local_pods;
mod manifest;
mod meters;
#[cfg(test)]
mod mocked;
mod network;
mod node_image;
mod nodes;
mod pod_client;
mod pods;
mod postgres;
mod quantity;
mod running;
mod runtime;
mod session;
mod settings;
mod start;
mod state;

pub use backend::BackendPod;
pub use cluster::Cluster;
pub use deployment::{Deployed, DeploymentName};
pub use error::ClusterError;
pub use exec::Attached;
pub use generators::{LEAD, LoadPods};
pub use image::PodImage;
pub use manifest::manifest;
pub use node_image::{NodeImage, Pull};
pub use nodes::{Node, Nodes};
pub use runtime::{ClusterRequest, KubernetesRuntime};
pub use settings::ClusterSettings;
