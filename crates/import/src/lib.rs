//! Requests to a service, read from other formats: its OpenAPI description, traffic that a browser
//! or a proxy recorded, files of HTTP requests, curl command lines, and traffic that passed through
//! our own proxy; and numbers that other tools measured. No input, no output: texts in, requests,
//! numbers and notes out. The crate knows no suite.

pub mod captured;
mod credentials;
pub mod curl;
pub mod exports;
pub mod har;
mod headers;
pub mod http_file;
pub mod openapi;
mod outside;
mod requests;
pub mod scalar;
mod target;

pub use credentials::{credential_in_request, is_credential};
pub use outside::Outside;
pub use requests::{Choice, Described, Operation, RequestSource, another, may_change_data};
