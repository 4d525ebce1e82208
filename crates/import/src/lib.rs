//! Requests of a service out of texts of others: its OpenAPI description, or traffic that a browser
//! or proxy recorded. No input, no output: texts in, requests and notes out. It knows no suite.

mod described;
pub mod har;
pub mod openapi;
pub mod scalar;

pub use described::{Described, Operation, Source};
