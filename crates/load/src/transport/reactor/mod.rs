//! Waiting, receiving and sending: one trait, one implementation per kernel interface.
//!
//! A reactor owns the sockets of one thread, named by their connection numbers, and knows nothing
//! about HTTP or pacing. It reports what was received in pieces that borrow its buffer, so that
//! bodies are never stored, and finishes sends by itself. Errors of a connection are always events,
//! never results, so that they are handled in one place.

mod buffers;
mod completion;
pub(crate) mod epoll;
mod receive_clock;
mod sockets;
pub(crate) mod uring;

use rustix::io::Errno;

use crate::payload::Payload;

/// An event of a connection.
#[derive(Debug)]
pub(crate) enum Event<'a> {
    /// The connection is established.
    Connected,
    /// The connection could not be established and must be closed.
    Refused(Errno),
    /// Bytes arrived.
    Data {
        /// The bytes, valid until the reactor is used again.
        bytes: &'a [u8],
        /// Arrival time of the last byte, monotonic ns: from the kernel or, without receive
        /// timestamps, when it was found. The time spent on earlier events is not the service's.
        received_ns: u64,
        /// Whether the other side sends nothing after these bytes.
        ending: bool,
    },
    /// The other side closed its direction; the connection must be closed.
    End {
        /// When the close was found, monotonic ns.
        received_ns: u64,
    },
    /// The connection broke, after the received bytes, and must be closed.
    Broken(Errno),
}

/// The sockets of one thread.
pub(crate) trait Reactor: Sized {
    /// The name that records show.
    const NAME: &'static str;

    /// Makes sure that connections `0..count` may be opened; those beyond must be closed already.
    fn resize(&mut self, count: usize);

    /// Starts to open a closed connection.
    fn open(&mut self, connection: usize);

    /// Sends all of `payload` on an open connection, after everything that was sent before.
    fn send(&mut self, connection: usize, payload: Payload);

    /// Whether the kernel has not taken all that was sent, or never will.
    fn is_sending(&self, connection: usize) -> bool;

    /// Closes a connection, whatever state it is in. No event of it follows.
    fn close(&mut self, connection: usize);

    /// Waits until there is an event, at most this long; 0 only looks.
    ///
    /// # Errors
    /// If the kernel refuses to wait, which no retry would fix.
    fn wait(&mut self, timeout_ns: u64) -> Result<(), Errno>;

    /// Returns the next event of the last [`Reactor::wait`]. All of them must be taken before the
    /// next.
    fn next(&mut self) -> Option<(usize, Event<'_>)>;

    /// Bytes that the kernel has taken so far.
    fn sent_bytes(&self) -> u64;
}

#[cfg(test)]
mod tests;
