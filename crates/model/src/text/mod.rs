//! Texts that people write: units, bounds, names, patterns, paths, addresses, and what to say of
//! mistakes in them. What they are written for is not known here.

pub mod bound;
pub mod database_url;
pub mod deployment_name;
pub mod diagnostic;
pub mod duration_ns;
pub mod json_path;
pub mod names;
pub mod pattern;
pub mod service_url;
pub mod ssh_address;
pub(crate) mod text_enum;
pub(crate) mod units;
