//! Pods: their specs, images, start and state, and the ways into them.

pub(super) mod client;
pub(super) mod events;
pub(super) mod exec;
pub(super) mod forward;
pub(super) mod image;
pub(super) mod local_pods;
pub(super) mod node_image;
pub(super) mod running;
pub(super) mod specs;
pub(super) mod state;
