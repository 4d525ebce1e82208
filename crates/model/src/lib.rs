//! The vocabulary of bakeoff: suite files, plans, load orders, records and diagnostics.
//!
//! Nothing here reads a file, a clock, a socket or the environment, so nothing here can fail at
//! run time for a reason outside its arguments. Raw file formats end here: what leaves
//! [`parse`] is checked and typed.

pub mod check;
pub mod diagnostic;
pub mod duration_ns;
pub mod failure;
pub mod histogram;
pub mod json_path;
pub mod load;
pub mod names;
pub mod parse;
pub mod plan;
pub mod published;
pub mod record;
pub mod request;
pub mod resource;
pub mod scenario;
pub mod schema;
pub mod suite;
pub mod transport;
pub mod validity;
