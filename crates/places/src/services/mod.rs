//! The backends that contenders call: real ones and the replay of their recordings.
//!
//! A backend is a local process in a separate group, started through the process runtime, so that
//! it is metered, confined and removed like a contender. Which backend a suite wants, on which
//! cores and for how long is the session's business.

mod databases;
pub mod elasticsearch;
mod elasticsearch_data;
mod options;
pub(crate) mod postgres;
pub(crate) mod psql;
mod request_count;
mod running;
mod server;
mod sessions;
mod start;
#[cfg(test)]
mod tests;

pub(crate) use crate::services::databases::Administrator;
pub use crate::services::databases::{Databases, database_name};
pub use crate::services::options::{BackendKind, BackendOptions, Elasticsearch, ReplayProcess};
pub(crate) use crate::services::running::ReplayNotes;
pub use crate::services::running::{Backend, ended};
pub use crate::services::start::start;
