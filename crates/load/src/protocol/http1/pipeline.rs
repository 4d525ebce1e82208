//! Several requests in flight on one HTTP/1.1 connection (RFC 9112, 9.3.2): they are sent without
//! waiting, and the responses arrive in their order.

use std::collections::VecDeque;

use bakeoff_model::load::ErrorClass;

use super::head::HeadCache;
use super::reader::{Progress, Reader};
use crate::payload::Payload;
use crate::protocol::event::ProtocolEvent;
use crate::protocol::interface::Protocol;
use crate::protocol::request::OutgoingRequest;
use crate::protocol::response::{Capture, Response};

/// A request whose response is not complete.
#[derive(Debug, Clone, Copy)]
struct Awaited {
    slot: usize,
    head_only: bool,
    capture: Capture,
}

/// One connection with several requests in flight.
#[derive(Debug)]
pub(crate) struct Pipeline {
    /// Reads the response to the first of the awaited.
    reader: Reader,
    heads: HeadCache,
    /// The last response, by slot.
    responses: Vec<Response>,
    awaited: VecDeque<Awaited>,
    /// Whether the service closes after the current response, or the bytes are not a response.
    over: bool,
    out: Vec<u8>,
}

impl Pipeline {
    /// A connection with this many slots, before it is established.
    pub(crate) fn new(slots: usize, heads: HeadCache) -> Self {
        Self {
            reader: Reader::new(),
            heads,
            responses: std::iter::repeat_with(Response::default)
                .take(slots)
                .collect(),
            awaited: VecDeque::with_capacity(slots),
            over: false,
            out: Vec::new(),
        }
    }

    fn fail(&mut self, event: ProtocolEvent, events: &mut Vec<ProtocolEvent>) {
        self.over = true;
        events.push(event);
    }

    /// Handles the complete response to the first of the awaited requests.
    fn complete(&mut self, received_ns: u64, events: &mut Vec<ProtocolEvent>) {
        let Some(Awaited { slot, .. }) = self.awaited.pop_front() else {
            return;
        };
        std::mem::swap(&mut self.reader.response, &mut self.responses[slot]);
        events.push(ProtocolEvent::Response { slot, received_ns });
        if !self.reader.keeps_alive() {
            let failed = ProtocolEvent::Failed {
                class: ErrorClass::EarlyClose,
                message: "the service closed after the response to an earlier request".to_owned(),
            };
            self.fail(failed, events);
        } else if let Some(next) = self.awaited.front() {
            self.reader.begin(next.head_only, next.capture);
        }
    }
}

impl Protocol for Pipeline {
    fn start(&mut self) -> bool {
        self.awaited.clear();
        self.over = false;
        self.out.clear();
        false
    }

    fn has_capacity(&mut self) -> bool {
        !self.over
    }

    fn send(&mut self, slot: usize, request: OutgoingRequest<'_>, capture: Capture) {
        let head_only = request.head_only;
        self.responses[slot].begin(capture);
        if self.awaited.is_empty() {
            self.reader.begin(head_only, capture);
        }
        self.awaited.push_back(Awaited {
            slot,
            head_only,
            capture,
        });
        self.out.extend_from_slice(request.payload.bytes());
    }

    fn receive(
        &mut self,
        bytes: &[u8],
        received_ns: u64,
        events: &mut Vec<ProtocolEvent>,
    ) -> usize {
        let mut rest = bytes;
        while !rest.is_empty() && !self.over {
            if self.awaited.is_empty() {
                let unsolicited = ProtocolEvent::bad_framing("unsolicited response bytes");
                self.fail(unsolicited, events);
                break;
            }
            let progress = self.reader.feed(rest, &mut self.heads.borrow_mut());
            match progress {
                Ok(Progress::More) => {
                    self.reader.response.await_more(received_ns);
                    break;
                }
                Ok(Progress::Complete { rest: after }) => {
                    rest = &rest[rest.len() - after..];
                    self.complete(received_ns, events);
                }
                Err(message) => self.fail(ProtocolEvent::bad_framing(message.to_string()), events),
            }
        }
        bytes.len()
    }

    fn finish(&mut self, received_ns: u64, events: &mut Vec<ProtocolEvent>) {
        if !self.awaited.is_empty() && self.reader.finish() {
            self.complete(received_ns, events);
        }
    }

    fn output(&mut self, _flushed: bool) -> Option<Payload> {
        Payload::written(std::mem::take(&mut self.out))
    }

    /// Returns the response that arrives now and holds up the awaited request, if any.
    fn response(&mut self, slot: usize) -> &mut Response {
        if self.awaited.iter().any(|awaited| awaited.slot == slot) {
            &mut self.reader.response
        } else {
            &mut self.responses[slot]
        }
    }
}
