//! WebSocket (RFC 6455) as a client that loads a service: the upgrade, our masked frames, the
//! service's frames.
//!
//! Messages are counted and thrown away, but for the captured ones and for the start of each
//! where a timestamp is expected in it. Nothing is compressed and no extension is asked for.

pub(crate) mod client;
mod frame;
mod handshake;
#[cfg(test)]
mod tests;
mod utf8;
