//! A request as a protocol is given it.

use super::http2::request::Request;
use crate::payload::Payload;

/// A request in the shape of every protocol.
#[derive(Debug)]
pub(crate) struct OutgoingRequest<'a> {
    /// Of HTTP/1.1: head and body.
    pub(crate) payload: Payload,
    /// Of HTTP/2.
    pub(crate) http2: Option<&'a Request>,
    /// Of WebSocket: the text to be sent; empty = none.
    pub(crate) message: &'a [u8],
    /// The response has no body whatever its head says.
    pub(crate) head_only: bool,
    /// The response is read until this many server-sent events have come; 0 = to its end.
    pub(crate) events: u32,
}
