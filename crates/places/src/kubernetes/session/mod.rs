//! A session in a cluster: its namespaces, contenders, load generators, meters and services.

pub(super) mod backend;
pub(super) mod generators;
pub(super) mod instance;
pub(super) mod meters;
pub(super) mod namespaces;
pub(super) mod postgres;
pub(super) mod runtime;
pub(super) mod start;
