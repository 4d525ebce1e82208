//! One module a command. A command turns its arguments into what a library wants, calls it and
//! prints; it contains no rules about the meaning of a number.

pub(crate) mod audit;
pub(crate) mod bisect;
pub(crate) mod build;
pub(crate) mod capture;
pub(crate) mod compare;
pub(crate) mod completions;
pub(crate) mod doctor;
pub(crate) mod duel;
mod imported;
pub(crate) mod init;
pub(crate) mod judge;
pub(crate) mod kubernetes;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod null_server;
pub(crate) mod plan;
mod proto;
pub(crate) mod rank;
pub(crate) mod record;
pub(crate) mod remote;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod schema;
mod series;
pub(crate) mod service_load;
pub(crate) mod shim;
pub(crate) mod signals;
pub(crate) mod size;
pub(crate) mod up;
pub(crate) mod verify;
