//! Commands that need Linux: they measure, or use a part of what measures.

pub(crate) mod bisect;
pub(crate) mod build;
pub(crate) mod capture;
pub(crate) mod doctor;
pub(crate) mod duel;
pub(crate) mod kubernetes;
pub(crate) mod list;
pub(crate) mod load;
pub(crate) mod null_server;
pub(crate) mod plan;
mod proto;
pub(crate) mod record;
pub(crate) mod remote;
pub(crate) mod replay;
pub(crate) mod run;
mod series;
pub(crate) mod service_load;
pub(crate) mod shim;
pub(crate) mod signals;
pub(crate) mod size;
pub(crate) mod up;
pub(crate) mod verify;
