//! HTTP/2 (RFC 9113) as a client that loads a service: frames, header compression and streams,
//! bytes in and bytes out. Nothing here touches a socket or a clock.
//!
//! A [`Client`] has a fixed number of places, one for each request that may be in flight. What the
//! service does wrong is told apart as the RFC does: an error of a stream fails its request alone,
//! an error of the connection fails all of them. Pushed answers are refused, priorities are not
//! sent, and bodies are counted and thrown away unless the answer is one of the sampled ones.

mod client;
mod decoder;
mod encoder;
mod fields;
mod flow;
mod frame;
mod head;
mod huffman;
mod incoming;
mod request;
mod stream;
#[cfg(test)]
mod tests;

pub(crate) use client::Client;
#[cfg(feature = "fuzz")]
pub(crate) use decoder::Decoder;
pub(crate) use encoder::Field;
pub(crate) use request::{Fields, Request, lines, wants_length};
