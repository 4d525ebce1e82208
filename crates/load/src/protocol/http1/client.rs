//! A connection of HTTP/1.1 with one request at a time: the usual case, and the one whose cost per
//! request matters most.

use super::head::HeadCache;
use super::reader::{Progress, Reader};
use crate::payload::Payload;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol;
use crate::protocol::request::OutgoingRequest;
use crate::protocol::response::{Capture, Response};

/// One connection.
#[derive(Debug)]
pub(crate) struct Client {
    reader: Reader,
    heads: HeadCache,
    /// Whether a request was sent whose response is not complete.
    awaiting: bool,
    /// Whether each connection is for one request.
    keep_alive_off: bool,
    /// the request to send.
    request: Option<Payload>,
}

impl Client {
    /// A connection before it is established.
    pub(crate) fn new(keep_alive_off: bool, heads: HeadCache) -> Self {
        Self {
            reader: Reader::new(),
            heads,
            awaiting: false,
            keep_alive_off,
            request: None,
        }
    }

    #[inline]
    fn complete(&mut self, received_ns: u64, events: &mut Vec<ProtocolEvent>) {
        self.awaiting = false;
        let slot = 0;
        events.push(ProtocolEvent::Response { slot, received_ns });
        if self.keep_alive_off || !self.reader.keeps_alive() {
            events.push(ProtocolEvent::Draining);
        }
    }
}

impl Protocol for Client {
    fn start(&mut self) -> bool {
        self.awaiting = false;
        self.request = None;
        false
    }

    #[inline]
    fn has_capacity(&mut self) -> bool {
        true
    }

    #[inline]
    fn send(&mut self, _: usize, request: OutgoingRequest<'_>, capture: Capture) {
        self.reader.begin(request.head_only, capture);
        self.reader.response.want_events(request.events);
        self.awaiting = true;
        self.request = Some(request.payload);
    }

    #[inline]
    fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        if !self.awaiting {
            events.push(ProtocolEvent::bad_framing("unsolicited response bytes"));
            return bytes.len();
        }
        match self.reader.feed(bytes, &mut self.heads.borrow_mut()) {
            Ok(Progress::More) => {
                self.reader.response.await_more(received_ns);
                return bytes.len();
            }
            Ok(Progress::Complete { rest: 0 }) => {}
            // It is not known which of them, if any, is the response to this request.
            Ok(Progress::Complete { .. }) => {
                events.push(ProtocolEvent::bad_framing("bytes after the response"));
                return bytes.len();
            }
            Err(message) => {
                events.push(ProtocolEvent::bad_framing(message.to_string()));
                return bytes.len();
            }
        }
        self.complete(received_ns, events);
        bytes.len()
    }

    fn finish(&mut self, received_ns: u64, events: &mut Vec<ProtocolEvent>) {
        if self.awaiting && self.reader.finish() {
            self.complete(received_ns, events);
        }
    }

    #[inline]
    fn output(&mut self, _flushed: bool) -> Option<Payload> {
        self.request.take()
    }

    #[inline]
    fn response(&mut self, _: usize) -> &mut Response {
        &mut self.reader.response
    }

    fn ends_with_connection(&self, _: usize) -> bool {
        self.reader.finish()
    }

    fn needs_complete_requests(&self) -> bool {
        true
    }
}
