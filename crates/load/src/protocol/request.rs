//! A request in the form that a protocol takes.

use super::http2::request::Request;
use crate::payload::Payload;

/// A request in the forms of all protocols.
#[derive(Debug)]
pub(crate) struct OutgoingRequest<'a> {
    /// The head and body for HTTP/1.1.
    pub(crate) payload: Payload,
    /// The request for HTTP/2.
    pub(crate) http2: Option<&'a Request>,
    /// The text for WebSocket to send; empty = none.
    pub(crate) message: &'a [u8],
    /// Whether the response has no body whatever its head says.
    pub(crate) head_only: bool,
    /// Number of server-sent events after which the response is read no further; 0 = to its end.
    pub(crate) events: u32,
}
