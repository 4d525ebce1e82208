//! The interface that all protocols implement.

use super::event::ProtocolEvent;
use super::request::OutgoingRequest;
use super::response::{Capture, Response};
use crate::payload::Payload;

/// The client's side of a connection: bytes in, events and bytes out. A connection has a fixed
/// number of slots, one for each request that may be in flight.
pub(crate) trait Protocol {
    /// Starts over on a fresh connection. Returns `true` if there is a handshake, whose end will be
    /// [`ProtocolEvent::Established`]; otherwise requests may be sent immediately.
    fn start(&mut self) -> bool;

    /// Opens a window: bytes that arrived before `start_ns` (monotonic ns) and are only found now
    /// are not a response to anything. Only a service that sends unasked has such bytes.
    fn open_window(&mut self, _start_ns: u64) {}

    /// Whether a request may be sent now from a slot that is free.
    fn has_capacity(&mut self) -> bool;

    /// Sends a request from a free slot and captures this much of its response.
    fn send(&mut self, slot: usize, request: OutgoingRequest<'_>, capture: Capture);

    /// Takes bytes that arrived at `received_ns` (monotonic ns), appends the resulting events, and
    /// returns how many bytes it took. It stops before the end only after a response if the rest
    /// belongs to the next request, which has to be sent first. After [`ProtocolEvent::Failed`] it
    /// must not be called any more.
    fn receive(&mut self, bytes: &[u8], received_ns: u64, events: &mut Vec<ProtocolEvent>)
    -> usize;

    /// Handles an orderly close by the other side, which may be the end of a response.
    fn finish(&mut self, _received_ns: u64, _events: &mut Vec<ProtocolEvent>) {}

    /// Returns bytes for the connection to send now. `flushed` if the kernel has accepted all
    /// earlier ones.
    fn output(&mut self, flushed: bool) -> Option<Payload>;

    /// Returns the last response of a slot, or the part of it that has arrived.
    fn response(&mut self, slot: usize) -> &mut Response;

    /// Gives up the request of a slot; `false` if the connection has to be closed with it.
    fn cancel(&mut self, _slot: usize) -> bool {
        false
    }

    /// Whether nothing at all has arrived since the request of this slot was sent.
    fn is_silent(&mut self, slot: usize) -> bool {
        !self.response(slot).begun
    }

    /// Whether the response of a slot ends with the connection, because nothing else says its end.
    fn ends_with_connection(&self, _slot: usize) -> bool {
        false
    }

    /// Whether a request may be waiting because the service allows fewer at a time than there are
    /// slots.
    fn has_refused(&self) -> bool {
        false
    }

    /// Notes that no request waits for that any longer.
    fn forget_refused(&mut self) {}

    /// Returns the number of requests that the service allows in flight; `None` for a protocol
    /// without streams.
    fn streams(&self) -> Option<u32> {
        None
    }

    /// Whether a response that arrives before its request was sent completely makes the connection
    /// useless.
    fn needs_complete_requests(&self) -> bool {
        false
    }
}
