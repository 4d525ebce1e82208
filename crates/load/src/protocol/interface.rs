//! The convention that all protocols follow.

use super::event::ProtocolEvent;
use super::request::OutgoingRequest;
use super::response::{Capture, Response};
use crate::payload::Payload;

/// The client's side of one connection: bytes in, events and bytes out. It has a fixed number of
/// slots, one for each request that may be in flight.
pub(crate) trait Protocol {
    /// Starts over on a fresh connection. `true` when there is a handshake, whose end will be
    /// [`ProtocolEvent::Established`]; otherwise requests may be sent at once.
    fn start(&mut self) -> bool;

    /// A window opens: what arrived before `start_ns` (monotonic ns) and is only found now is not a
    /// response to anything. Only a service that speaks unasked has such a thing.
    fn open_window(&mut self, _start_ns: u64) {}

    /// Whether a request may be sent now from a slot that is free.
    fn has_capacity(&mut self) -> bool;

    /// Sends a request from a free slot and captures this much of its response.
    fn send(&mut self, slot: usize, request: OutgoingRequest<'_>, capture: Capture);

    /// Takes bytes that arrived at `received_ns` (monotonic ns), says what that means, and returns
    /// how many bytes it took. It stops before the end only after a response whose successor in
    /// the rest belongs to the next request, which has to be sent first. After
    /// [`ProtocolEvent::Failed`] it must not be given any more.
    fn receive(&mut self, bytes: &[u8], received_ns: u64, events: &mut Vec<ProtocolEvent>)
    -> usize;

    /// The other side closed in good order, which may be the end of a response.
    fn finish(&mut self, _received_ns: u64, _events: &mut Vec<ProtocolEvent>) {}

    /// Bytes that the connection has to carry now. `flushed` when the kernel has taken all that
    /// there was before.
    fn output(&mut self, flushed: bool) -> Option<Payload>;

    /// The last response of a slot, or as much of it as has come.
    fn response(&mut self, slot: usize) -> &mut Response;

    /// Gives up the request of a slot; `false` when the connection has to go with it.
    fn cancel(&mut self, _slot: usize) -> bool {
        false
    }

    /// Whether nothing at all has come since the request of this slot was sent.
    fn is_silent(&mut self, slot: usize) -> bool {
        !self.response(slot).begun
    }

    /// Whether a request may be waiting because the service allows fewer at a time than there are
    /// slots.
    fn has_refused(&self) -> bool {
        false
    }

    /// No request waits for that any longer.
    fn forget_refused(&mut self) {}

    /// Requests that the service allows in flight; `None` for a protocol without streams.
    fn streams(&self) -> Option<u32> {
        None
    }

    /// Whether a response that comes before its request was sent to the end leaves the connection
    /// of no further use.
    fn needs_complete_requests(&self) -> bool {
        false
    }
}
