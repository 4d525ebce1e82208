//! A response as it arrives, for every protocol: status, length, and if it is captured its headers
//! and body. Other bodies are counted and discarded.

use bakeoff_base::problem::Problem;
use bakeoff_model::request::check::ReceivedResponse;

use super::sse::Events;

/// Maximum bytes of a captured body; a longer one cannot be checked and reports so.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Memory that is reserved for the next captured body.
const BODY_RESERVE: usize = 64 * 1024;

/// The part of a response that is kept beyond its status and length.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Capture {
    /// Nothing is kept.
    #[default]
    Nothing,
    /// The headers, for the cookies in them.
    Headers,
    /// The whole response.
    All,
}

/// A response that is arriving.
#[derive(Debug, Default)]
pub(crate) struct Response {
    /// Whether any byte has arrived.
    pub(crate) begun: bool,
    /// The status, once the head is complete.
    pub(crate) status: u16,
    /// The status of a gRPC call, once it has arrived.
    pub(crate) grpc_status: Option<u16>,
    /// Arrival time of the first bytes of the body if more followed, monotonic ns; 0 if all of it
    /// arrived together.
    pub(crate) first_byte_ns: u64,
    /// Bytes of the body so far.
    pub(crate) body_bytes: u64,
    /// The first bytes of the body, if a timestamp is expected in them.
    pub(crate) prefix: Vec<u8>,
    /// The wanted server-sent events; `None` if the whole response is wanted.
    events: Option<Events>,
    capture: Capture,
    /// The captured response; boxed because most connections never have one.
    captured: Option<Box<Captured>>,
}

#[derive(Debug, Default)]
struct Captured {
    response: ReceivedResponse,
    too_long: bool,
}

impl Response {
    /// Forgets the last response and sets how much of the next one is captured.
    #[inline]
    pub(crate) fn begin(&mut self, capture: Capture) {
        self.begun = false;
        self.status = 0;
        self.grpc_status = None;
        self.first_byte_ns = 0;
        self.body_bytes = 0;
        self.events = None;
        self.capture = capture;
        if capture != Capture::Nothing {
            let captured = self.captured.get_or_insert_default();
            captured.too_long = false;
            captured.response.headers.clear();
            captured.response.body.clear();
            captured.response.body.shrink_to(BODY_RESERVE);
        }
    }

    /// Sets the number of server-sent events wanted from the current response; 0 = all of it.
    #[inline]
    pub(crate) fn want_events(&mut self, events: u32) {
        if events > 0 {
            self.events = Some(Events::new(events));
        }
    }

    /// Returns the number of wanted events that have not arrived; `None` if the whole response is
    /// wanted.
    #[inline]
    pub(crate) fn events_left(&self) -> Option<u32> {
        let is_stream = (200..300).contains(&self.status);
        self.events.as_ref().filter(|_| is_stream).map(Events::left)
    }

    /// Whether anything of this response is captured.
    #[inline]
    pub(crate) fn is_captured(&self) -> bool {
        self.capture != Capture::Nothing
    }

    /// Returns the headers of a captured response, to add to, with names in lower case.
    pub(crate) fn headers(&mut self) -> Option<&mut Vec<(String, String)>> {
        let captured = self.captured.as_mut();
        let captured = captured.filter(|_| self.capture != Capture::Nothing)?;
        Some(&mut captured.response.headers)
    }

    /// Notes that more bytes must follow those received at `received_ns` (monotonic ns).
    pub(crate) fn await_more(&mut self, received_ns: u64) {
        if self.body_bytes > 0 && self.first_byte_ns == 0 {
            self.first_byte_ns = received_ns;
        }
    }

    /// Takes a part of the body.
    #[inline]
    pub(crate) fn take_body(&mut self, data: &[u8]) {
        self.body_bytes += data.len() as u64;
        if let Some(events) = &mut self.events {
            events.take(data);
        }
        if self.capture == Capture::All
            && let Some(captured) = &mut self.captured
        {
            captured.extend(data);
        }
    }

    /// Returns the captured part of the response; `None` if none was requested.
    ///
    /// # Errors
    /// A message, when its body was too long to be captured.
    pub(crate) fn captured(&mut self) -> Option<Result<&ReceivedResponse, Problem>> {
        let captured = self.captured.as_mut();
        let captured = captured.filter(|_| self.capture != Capture::Nothing)?;
        if captured.too_long {
            let bytes = self.body_bytes;
            return Some(Err(
                format!("a body of {bytes} bytes is too long to check").into()
            ));
        }
        captured.response.status = self.status;
        captured.response.grpc_status = self.grpc_status;
        Some(Ok(&captured.response))
    }
}

impl Captured {
    fn extend(&mut self, data: &[u8]) {
        if self.response.body.len() + data.len() > BODY_MAX {
            self.too_long = true;
        } else {
            self.response.body.extend_from_slice(data);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BODY_MAX, Capture, Response};

    #[test]
    fn a_body_that_nobody_looks_at_may_have_any_length() {
        let part = vec![b'x'; BODY_MAX / 2 + 1];
        for (capture, is_good) in [(Capture::All, false), (Capture::Headers, true)] {
            let mut response = Response::default();
            response.begin(capture);
            let header = ("set-cookie".to_owned(), "a=b".to_owned());
            response.headers().unwrap().push(header.clone());
            response.take_body(&part);
            response.take_body(&part);
            let captured = response.captured().unwrap();
            assert_eq!(captured.is_ok(), is_good, "{capture:?}");
            if let Ok(response) = captured {
                assert_eq!(
                    (&response.headers[..], response.body.len()),
                    (&[header][..], 0)
                );
            }
        }
    }
}
