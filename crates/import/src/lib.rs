//! Requests to a service, read from other formats: its OpenAPI description, traffic that a browser
//! or proxy recorded, files of HTTP requests, and curl command lines. No input, no output: texts
//! in, requests and notes out. The crate knows no suite.

pub mod curl;
pub mod har;
pub mod http_file;
pub mod openapi;
mod requests;
pub mod scalar;

pub use requests::{Described, Operation, RequestSource, another};
