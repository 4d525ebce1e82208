//! WebSocket (RFC 6455) as a client that loads a service: the upgrade, our masked frames, the
//! service's frames. Bytes in and bytes out; nothing here touches a socket or a clock.
//!
//! Messages are counted and thrown away, but for the sampled ones and for the beginning of each,
//! where a time stamp may be. Nothing is compressed and no extension is asked for.

mod client;
mod frame;
mod handshake;
#[cfg(test)]
mod tests;
mod utf8;

pub(crate) use client::{Client, Happened};
