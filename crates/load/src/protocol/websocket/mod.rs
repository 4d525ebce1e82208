//! WebSocket (RFC 6455) as a client that loads a service: the upgrade, our masked frames, the
//! service's frames.
//!
//! Messages are counted and discarded, except captured ones and the start of each if a timestamp is
//! expected in it. Nothing is compressed and no extension is requested.

pub(crate) mod client;
mod frame;
mod handshake;
#[cfg(test)]
mod tests;
mod utf8;
