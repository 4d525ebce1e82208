//! What passes through a proxy: requests with their responses.

use std::time::{Duration, Instant};

/// Takes what passes through a proxy.
pub trait Exchanges: Send + Sync + 'static {
    /// Takes a request whose response is complete.
    fn take(&self, exchange: Exchange);

    /// Notes a request that passed, or could not pass, and was not taken. `request` is its method
    /// and target, or a description of it.
    fn leave_out(&self, request: &str, why: &str);

    /// The most bytes of a response's body that are of use.
    fn response_bytes_max(&self) -> usize;
}

/// A request and its response.
#[derive(Debug)]
pub struct Exchange {
    /// Whether it was sent over HTTP/2.
    pub is_http2: bool,
    /// The request.
    pub request: SentRequest,
    /// The status of the response.
    pub status: u16,
    /// Headers of the response, in order.
    pub headers: Vec<(String, String)>,
    /// The body of the response.
    pub body: Body,
    /// When the head of the request arrived.
    pub arrived: Instant,
    /// The time from then to the end of the response.
    pub took: Duration,
}

/// A request as it was sent.
#[derive(Debug, Clone)]
pub struct SentRequest {
    /// The method.
    pub method: String,
    /// Path and query, as they were sent.
    pub target: String,
    /// Headers in order, with their case. Over HTTP/2, `host` is the authority.
    pub headers: Vec<(String, String)>,
    /// The body, without its framing.
    pub body: Body,
}

impl SentRequest {
    /// Returns method and target as one text.
    #[must_use]
    pub fn line(&self) -> String {
        format!("{} {}", self.method, self.target)
    }
}

/// The bytes of a body up to a limit.
#[derive(Debug, Clone)]
pub struct Body {
    /// The bytes that were kept.
    pub bytes: Vec<u8>,
    /// Whether there were more bytes than the limit allows.
    pub is_cut: bool,
    limit: usize,
}

impl Body {
    /// Returns an empty body that keeps at most this number of bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            bytes: Vec::new(),
            is_cut: false,
            limit,
        }
    }

    /// Appends bytes that passed.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let room = self.limit - self.bytes.len();
        self.is_cut |= bytes.len() > room;
        self.bytes
            .extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}
