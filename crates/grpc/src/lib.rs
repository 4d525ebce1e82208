//! Messages of gRPC: JSON to the body of a request, and the body of a response to JSON.
//!
//! The descriptors of messages and services come from `.proto` files or from a compiled set. JSON
//! is the canonical JSON encoding of Protocol Buffers; fields that a response omits have their
//! default values, so that expectations can name them. The caller owns the sockets.

mod frames;
mod schema;
mod source;

pub use schema::Schema;
