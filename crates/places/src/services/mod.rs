//! What contenders call: one list of services. A backend (PostgreSQL, Elasticsearch, a replay of
//! recordings) is a service that comes with this program; a dependency is one that a suite
//! describes. Both are filled once, restored before each start of a contender, metered and stopped
//! alike.
//!
//! On this host a service is a process in a separate group or a container, so that it is metered,
//! confined and removed like a contender. Which services a suite wants, on which cores and for how
//! long is the session's business.

mod databases;
pub(crate) mod dependency;
pub mod elasticsearch;
mod elasticsearch_data;
mod list;
mod options;
pub(crate) mod postgres;
pub(crate) mod psql;
mod readiness;
mod request_count;
mod running;
mod server;
mod service;
mod sessions;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use crate::services::databases::Administrator;
pub use crate::services::databases::{Databases, database_name};
pub use crate::services::list::Services;
pub use crate::services::options::{BackendKind, BackendOptions, Elasticsearch, ReplayProcess};
pub(crate) use crate::services::running::ReplayNotes;
pub use crate::services::running::{Backend, ended};
pub use crate::services::service::{Service, ServiceHost, Setting, WantedBackend, WantedService};
pub use crate::services::start::start;
