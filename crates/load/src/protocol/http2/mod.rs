//! HTTP/2 (RFC 9113) as a client that loads a service: frames, header compression and streams.
//!
//! A [`client::Client`] has a fixed number of slots, one for each request that may be in flight.
//! Errors are distinguished as in the RFC: a stream error fails its request alone, a connection
//! error fails all of them. Server push is refused, priorities are not sent, and bodies are counted
//! and discarded unless the response is captured.

pub(crate) mod client;
pub(crate) mod decoder;
pub(crate) mod encoder;
mod error;
mod fields;
mod flow;
mod frame;
mod head;
mod huffman;
mod incoming;
mod padding;
pub(crate) mod request;
mod stream;
#[cfg(test)]
mod tests;
