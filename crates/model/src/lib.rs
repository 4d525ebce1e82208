//! The vocabulary of bakeoff: suite files, plans, load orders, records and diagnostics.
//!
//! Nothing here reads a file, a clock, a socket or the environment, so nothing here can fail at
//! run time for a reason outside its arguments. Raw file formats end here: what leaves
//! [`parse`] is checked and typed.

pub mod backend;
pub mod baseline;
pub mod bound;
pub mod capacity;
pub mod check;
pub mod conditions;
pub mod core_sharing;
pub mod cpu_parts;
pub mod database_url;
pub mod delay;
pub mod dependency;
pub mod diagnostic;
pub mod duration_ns;
pub mod failure;
pub mod flame_graph;
pub mod grpc;
pub mod histogram;
pub mod json_path;
pub mod layers;
pub mod limits;
pub mod load;
pub mod metrics;
pub mod names;
pub mod nodes;
pub mod parse;
pub mod pattern;
pub mod plan;
pub mod published;
pub mod record;
pub mod request;
pub mod resource;
pub mod run_count;
pub mod scenario;
pub mod schema;
pub mod service_url;
pub mod slo;
pub mod step;
pub mod suite;
mod text_enum;
pub mod tls;
pub mod totals;
pub mod transport;
mod units;
pub mod validity;
pub mod volume;
pub mod warmth;
