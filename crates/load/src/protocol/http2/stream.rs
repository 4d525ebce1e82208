//! A request and its response: a stream, as far as a client needs it.

use std::rc::Rc;

use super::flow::{DEFAULT_WINDOW, Inflow, Outflow, STREAM_WINDOW};
use crate::protocol::response::{Capture, Response};

/// A slot for a sequence of requests in flight, one at a time.
#[derive(Debug)]
pub(super) struct Stream {
    /// The response as far as it has arrived.
    pub(super) response: Response,
    /// Whether the response has no body whatever its head says.
    pub(super) head_only: bool,
    /// Whether the final head has arrived.
    pub(super) has_head: bool,
    /// Bytes of header fields so far.
    pub(super) head_bytes: usize,
    /// The content-length of the response.
    length: Option<u64>,
    /// The window of the service.
    pub(super) inflow: Inflow,
    /// The window of the client.
    pub(super) outflow: Outflow,
    /// The body of the request, and how much of it was sent.
    pub(super) body: Rc<[u8]>,
    /// Bytes of the body that were sent.
    pub(super) sent: usize,
    /// Number of times that bytes had arrived on the connection when the request was started.
    pub(super) receives_before: u64,
    /// Whether the stream is in the queue of bodies to be sent.
    pub(super) queued: bool,
}

impl Stream {
    /// A slot without a request.
    pub(super) fn new() -> Self {
        Self {
            response: Response::default(),
            head_only: false,
            has_head: false,
            head_bytes: 0,
            length: None,
            inflow: Inflow::new(STREAM_WINDOW),
            outflow: Outflow::new(DEFAULT_WINDOW),
            body: Rc::from([]),
            sent: 0,
            receives_before: 0,
            queued: false,
        }
    }

    /// Starts a request with this body to a service that accepts `window` bytes at first.
    pub(super) fn begin(&mut self, body: Rc<[u8]>, head_only: bool, capture: Capture, window: u32) {
        self.response.begin(capture);
        self.head_only = head_only;
        self.has_head = false;
        self.head_bytes = 0;
        self.length = None;
        self.inflow = Inflow::new(STREAM_WINDOW);
        self.outflow = Outflow::new(window);
        self.body = body;
        self.sent = 0;
    }

    /// Whether a part of the request has not been sent.
    pub(super) fn is_sending(&self) -> bool {
        self.sent < self.body.len()
    }

    /// Takes the final head of the response.
    pub(super) fn take_head(&mut self, status: u16, length: Option<u64>) {
        self.has_head = true;
        self.response.status = status;
        let bodiless = self.head_only || status == 204 || status == 304;
        self.length = if bodiless { Some(0) } else { length };
    }

    /// Takes a part of the body.
    ///
    /// # Errors
    /// A message, when there is no room for it in the response.
    pub(super) fn take_body(&mut self, data: &[u8]) -> Result<(), &'static str> {
        if !self.has_head {
            return Err("a body before its head");
        }
        self.response.take_body(data);
        if self
            .length
            .is_some_and(|length| self.response.body_bytes > length)
        {
            return Err("a body longer than its content-length");
        }
        Ok(())
    }

    /// Whether the response may end here.
    ///
    /// # Errors
    /// A message, when not.
    pub(super) fn finish(&self) -> Result<(), &'static str> {
        if self
            .length
            .is_some_and(|length| self.response.body_bytes < length)
        {
            return Err("a body shorter than its content-length");
        }
        Ok(())
    }
}
