//! The cluster itself: its API server, its nodes, what is deployed in it, and the rights that users
//! need.

pub(super) mod connection;
pub(super) mod deployment;
pub(super) mod error;
pub(super) mod manifest;
#[cfg(test)]
pub(super) mod mocked;
pub(super) mod network;
pub(super) mod nodes;
pub(super) mod quantity;
