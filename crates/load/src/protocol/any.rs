//! The protocol of a connection: one of all protocols, known when the connection is set up.

use std::rc::Rc;

use bakeoff_model::load::{LoadSpec, Protocol as Choice};

use super::event::ProtocolEvent;
use super::http1::client::Client as Http1;
use super::http1::head::HeadCache;
use super::http1::pipeline::Pipeline;
use super::http2::client::Client as Http2;
use super::interface::Protocol;
use super::request::OutgoingRequest;
use super::response::{Capture, Response};
use super::websocket::client::Client as WebSocket;
use crate::payload::Payload;

/// The protocol of a connection.
#[derive(Debug)]
pub(crate) enum AnyProtocol {
    /// HTTP/1.1, one request at a time.
    Http1(Http1),
    /// HTTP/1.1, several requests at a time.
    Pipelined(Box<Pipeline>),
    /// HTTP/2.
    Http2(Box<Http2>),
    /// WebSocket, one message awaited at a time.
    WebSocket(Box<WebSocket>),
}

impl AnyProtocol {
    /// Returns the protocol of `spec` before it is started. `upgrade` is the first request, which
    /// WebSocket starts with, and `seed` is for its masks; `heads` is shared by all connections of
    /// a thread.
    pub(crate) fn new(spec: &LoadSpec, upgrade: &Rc<[u8]>, heads: &HeadCache, seed: u64) -> Self {
        let slots = slots(spec);
        match spec.target.protocol {
            Choice::Http1 if slots > 1 => {
                Self::Pipelined(Box::new(Pipeline::new(slots, heads.clone())))
            }
            Choice::Http1 => Self::Http1(Http1::new(spec.keep_alive_off, heads.clone())),
            Choice::Http2 => Self::Http2(Box::new(Http2::new(slots))),
            Choice::Websocket(settings) => {
                Self::WebSocket(Box::new(WebSocket::new(upgrade.clone(), settings, seed)))
            }
        }
    }
}

/// Returns the number of requests that a connection may have in flight.
pub(crate) fn slots(spec: &LoadSpec) -> usize {
    spec.in_flight.max(1) as usize
}

/// Forwards a call to the protocol.
macro_rules! each {
    ($any:expr, $protocol:ident => $call:expr) => {
        match $any {
            Self::Http1($protocol) => $call,
            Self::Pipelined($protocol) => $call,
            Self::Http2($protocol) => $call,
            Self::WebSocket($protocol) => $call,
        }
    };
}

impl Protocol for AnyProtocol {
    fn start(&mut self) -> bool {
        each!(self, protocol => protocol.start())
    }

    fn open_window(&mut self, start_ns: u64) {
        each!(self, protocol => protocol.open_window(start_ns));
    }

    #[inline]
    fn has_capacity(&mut self) -> bool {
        each!(self, protocol => protocol.has_capacity())
    }

    #[inline]
    fn send(&mut self, slot: usize, request: OutgoingRequest<'_>, capture: Capture) {
        each!(self, protocol => protocol.send(slot, request, capture));
    }

    #[inline]
    fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        each!(self, protocol => protocol.receive(bytes, received_ns, events))
    }

    fn finish(&mut self, received_ns: u64, events: &mut Vec<ProtocolEvent>) {
        each!(self, protocol => protocol.finish(received_ns, events));
    }

    #[inline]
    fn output(&mut self, flushed: bool) -> Option<Payload> {
        each!(self, protocol => protocol.output(flushed))
    }

    #[inline]
    fn response(&mut self, slot: usize) -> &mut Response {
        each!(self, protocol => protocol.response(slot))
    }

    fn cancel(&mut self, slot: usize) -> bool {
        each!(self, protocol => protocol.cancel(slot))
    }

    fn is_silent(&mut self, slot: usize) -> bool {
        each!(self, protocol => protocol.is_silent(slot))
    }

    fn ends_with_connection(&self, slot: usize) -> bool {
        each!(self, protocol => protocol.ends_with_connection(slot))
    }

    #[inline]
    fn has_refused(&self) -> bool {
        each!(self, protocol => protocol.has_refused())
    }

    fn forget_refused(&mut self) {
        each!(self, protocol => protocol.forget_refused());
    }

    fn streams(&self) -> Option<u32> {
        each!(self, protocol => protocol.streams())
    }

    #[inline]
    fn needs_complete_requests(&self) -> bool {
        each!(self, protocol => protocol.needs_complete_requests())
    }
}
