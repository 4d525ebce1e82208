//! The vocabulary of bakeoff: suite files, plans, load orders, records and diagnostics.
//!
//! Nothing here reads a file, a clock, a socket or the environment, so nothing here can fail at
//! run time for a reason outside its arguments. Raw file formats end here: what leaves
//! [`parse`] is checked and typed, and a program that makes a suite fills [`parse::files`].

pub mod load;
pub mod measure;
pub mod parse;
pub mod plan;
pub mod record;
pub mod request;
pub mod schema;
pub mod suite;
pub mod text;
pub mod validity;
