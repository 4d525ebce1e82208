//! Requests of a service out of texts of others: its OpenAPI description, traffic that a browser or
//! proxy recorded, files of HTTP requests, and command lines of curl. No input, no output: texts
//! in, requests and notes out. It knows no suite.

pub mod curl;
mod described;
pub mod har;
pub mod http_file;
pub mod openapi;
pub mod scalar;

pub use described::{Described, Operation, Source, another};
