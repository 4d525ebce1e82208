//! Requests as prepared bytes, and the order in which a connection sends them. Everything here
//! happens before the window opens.

use std::cell::OnceCell;
use std::num::NonZero;
use std::rc::Rc;

use bakeoff_base::content_encoding::is_asked_for;
use bakeoff_base::problem::Problem;
use bakeoff_grpc::Schema;
use bakeoff_model::load::{LoadSpec, Protocol, RequestSpec, Target};
use bakeoff_model::request::check::Expect;

use super::call::{self, Call};
use crate::error::LoadError;
use crate::payload::Payload;
use crate::protocol::http2::request::{self as http2, Fields};
use crate::protocol::request::OutgoingRequest;
use crate::protocol::token::is_token;

/// Longest order of requests; weights that need a longer one are scaled down.
const ORDER_MAX: u64 = 10_000;

/// Whether sending a request twice does what sending it once does. Calls of gRPC are POSTs.
fn is_idempotent(request: &RequestSpec, is_call: bool) -> bool {
    const METHODS: [&str; 6] = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"];
    !is_call && METHODS.contains(&request.method.as_str())
}

/// A request ready to be sent, and the requirements for its response.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// Method and path, for messages.
    pub(crate) name: String,
    /// Head and body as sent.
    pub(crate) bytes: Rc<[u8]>,
    /// The request in HTTP/2 form, if the spec uses that.
    pub(crate) http2: Option<http2::Request>,
    /// The text that WebSocket sends; empty = none.
    pub(crate) message: Vec<u8>,
    /// Whether the response has no body whatever its head says.
    pub(crate) head_only: bool,
    /// Whether sending the request twice does what sending it once does (RFC 9110, section 9.2.2).
    pub(crate) is_idempotent: bool,
    /// Number of server-sent events after which the response is read no further; 0 = to its end.
    pub(crate) events: u32,
    /// Allowed statuses; empty = 2xx and 3xx.
    statuses: Vec<u16>,
    /// The gRPC call, if the request is one.
    pub(crate) call: Option<Call>,
    /// Length of the body if the expectation fixes it; checked on every response.
    pub(crate) body_bytes: Option<u64>,
    /// Length of the first right body, if all others must have the same. For this thread's
    /// requests, so that threads need not agree on which was first.
    length: Option<OnceCell<u64>>,
    /// Expectation against which captured responses are checked.
    pub(crate) expect: Option<Expect>,
}

/// A user's rendered request, in the form of the protocol.
#[derive(Debug)]
pub(crate) struct RenderedRequest {
    /// The bytes for HTTP/1.1.
    pub(crate) bytes: Vec<u8>,
    /// The request for HTTP/2.
    pub(crate) http2: Option<http2::Request>,
}

impl Prepared {
    /// Returns the request in the form that a protocol takes.
    #[inline]
    pub(crate) fn outgoing(&self) -> OutgoingRequest<'_> {
        OutgoingRequest {
            payload: Payload::Shared(self.bytes.clone()),
            http2: self.http2.as_ref(),
            message: &self.message,
            head_only: self.head_only,
            events: self.events,
        }
    }

    /// Returns the request with the values that a scenario has filled in.
    pub(crate) fn with<'a>(&'a self, rendered: &'a mut RenderedRequest) -> OutgoingRequest<'a> {
        OutgoingRequest {
            payload: Payload::Owned(std::mem::take(&mut rendered.bytes)),
            http2: rendered.http2.as_ref(),
            ..self.outgoing()
        }
    }

    /// Whether the next response sets the length of all others.
    #[inline]
    pub(crate) fn awaits_length(&self) -> bool {
        self.length.as_ref().is_some_and(|one| one.get().is_none())
    }

    /// Returns the required length of a response's body; for the first right one its own.
    #[inline]
    pub(crate) fn length_like_first(&self, bytes: u64) -> u64 {
        let first = self.length.as_ref();
        first.map_or(bytes, |first| *first.get_or_init(|| bytes))
    }

    /// Whether this status is a right response.
    #[inline]
    pub(crate) fn allows(&self, status: u16) -> bool {
        if self.statuses.is_empty() {
            (200..400).contains(&status)
        } else {
            self.statuses.contains(&status)
        }
    }
}

/// All requests of a spec, prepared, with the turn in which they are sent.
#[derive(Debug)]
pub(crate) struct Requests {
    prepared: Vec<Prepared>,
    order: Vec<usize>,
}

impl Requests {
    /// Prepares the requests of `spec`.
    ///
    /// # Errors
    /// [`LoadError::Spec`] for a request that cannot be written as HTTP.
    pub(crate) fn prepare(spec: &LoadSpec) -> Result<Self, LoadError> {
        let mut fields = Fields::default();
        let schema = spec.grpc.as_ref().map(|body| call::schema(body.as_bytes()));
        let schema = schema.transpose()?;
        let prepared = spec
            .requests
            .iter()
            .map(|request| prepare(spec, request, schema.as_ref(), &mut fields))
            .collect::<Result<Vec<_>, _>>()?;
        let weights: Vec<u32> = spec.requests.iter().map(|request| request.weight).collect();
        let order = order(&weights);
        if order.is_empty() {
            return Err(LoadError::Spec {
                message: "no request to send: the spec has none with a weight above 0".into(),
            });
        }
        Ok(Self { prepared, order })
    }

    /// Returns the index of the request that is the `turn`-th of a connection.
    #[inline]
    pub(crate) fn index_at(&self, turn: usize) -> usize {
        match self.order.as_slice() {
            [only] => *only,
            order => order[turn % order.len()],
        }
    }

    /// Returns the number of different requests.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.prepared.len()
    }

    /// Returns the request with this index.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> &Prepared {
        &self.prepared[index]
    }
}

/// Spreads the requests so that their frequencies match their weights, as evenly as possible
/// (smooth weighted round robin).
fn order(weights: &[u32]) -> Vec<usize> {
    let divisor = weights.iter().fold(0, |a, &b| gcd(a, b)).max(1);
    let mut weights: Vec<i64> = weights.iter().map(|&w| i64::from(w / divisor)).collect();
    let total: u64 = weights.iter().map(|w| w.cast_unsigned()).sum();
    if total > ORDER_MAX {
        let scale = total.div_ceil(ORDER_MAX).cast_signed();
        for weight in weights.iter_mut().filter(|weight| **weight > 0) {
            *weight = (*weight / scale).max(1);
        }
    }
    let total: i64 = weights.iter().sum();
    let mut credit = vec![0_i64; weights.len()];
    let mut order = Vec::new();
    for _ in 0..total {
        for (credit, weight) in credit.iter_mut().zip(&weights) {
            *credit += weight;
        }
        let mut best = 0;
        for index in 1..credit.len() {
            if credit[index] > credit[best] {
                best = index;
            }
        }
        credit[best] -= total;
        order.push(best);
    }
    order
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn prepare(
    spec: &LoadSpec,
    request: &RequestSpec,
    schema: Option<&Schema>,
    fields: &mut Fields,
) -> Result<Prepared, LoadError> {
    let name = request.label();
    let fail = |message: &str| {
        Err(LoadError::Spec {
            message: format!("request {name:?}: {message}"),
        })
    };
    if let Err(problem) = check(request) {
        return fail(problem.message());
    }
    let call = schema.map(|schema| Call::new(schema, request)).transpose();
    let (call, sent) = match call {
        Ok(call) => call.unzip(),
        Err(problem) => return fail(problem.message()),
    };
    let request = sent.as_ref().unwrap_or(request);
    let head_only = request.method == "HEAD";
    let body_bytes = request
        .expect
        .as_ref()
        // The expected body of a call applies to its message, that of a compressed response to its
        // content.
        .filter(|_| !head_only && call.is_none() && !is_asked_for(&request.headers))
        .and_then(|expect| {
            let exact = expect.body.as_ref().map(|body| body.len() as u64);
            expect.body_bytes.or(exact)
        });
    let http2 = spec.target.protocol == Protocol::Http2;
    let mut expect = request.expect.clone();
    let (mut bytes, mut message) = (Vec::new(), "");
    if let Protocol::Websocket(_) = spec.target.protocol {
        if request.method != "GET" {
            return fail("the method of an upgrade to WebSocket is GET");
        }
        let Some(text) = request.body.as_text() else {
            return fail("its body is not UTF-8, and messages of WebSocket are texts");
        };
        message = text;
        bytes = upgrade_bytes(spec, request);
        // A message has the status of its upgrade.
        if let Some(expect) = expect.as_mut().filter(|expect| expect.status.is_empty()) {
            expect.status = vec![101];
        }
    } else {
        bytes.extend(wire_bytes(spec, request));
    }
    Ok(Prepared {
        bytes: bytes.into(),
        message: message.as_bytes().to_vec(),
        http2: http2.then(|| fields.request(spec, request, &escape(&request.path))),
        head_only,
        is_idempotent: message.is_empty() && is_idempotent(request, call.is_some()),
        events: request.events.map_or(0, NonZero::get),
        statuses: match &expect {
            Some(expect) => expect.status.clone(),
            None if matches!(spec.target.protocol, Protocol::Websocket(_)) => vec![101],
            None => Vec::new(),
        },
        call,
        body_bytes,
        length: (request.same_length && !head_only).then(OnceCell::new),
        expect,
        name,
    })
}

/// Refuses requests that cannot be written as HTTP.
fn check(request: &RequestSpec) -> Result<(), Problem> {
    if request.method.is_empty() || !request.method.bytes().all(is_token) {
        return Err("the method is not a token".into());
    }
    if !request.path.starts_with('/') && request.path != "*" {
        return Err("the path does not begin with /".into());
    }
    for (header, value) in &request.headers {
        if header.is_empty() || !header.bytes().all(is_token) {
            return Err(format!("header name {header:?} is not a token").into());
        }
        if value.bytes().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err(format!("header {header} has a line break in its value").into());
        }
    }
    Ok(())
}

/// Returns the upgrade to WebSocket, without its key and the empty line, which each connection
/// adds.
fn upgrade_bytes(spec: &LoadSpec, request: &RequestSpec) -> Vec<u8> {
    let mut text = request_line(request) + &header_lines(spec, request);
    text += "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n";
    text.into_bytes()
}

/// Returns the request as HTTP/1.1.
fn wire_bytes(spec: &LoadSpec, request: &RequestSpec) -> Vec<u8> {
    let mut bytes = head(spec, request).into_bytes();
    bytes.extend_from_slice(request.body.as_bytes());
    bytes
}

fn head(spec: &LoadSpec, request: &RequestSpec) -> String {
    let mut text = request_line(request) + &header_lines(spec, request);
    if wants_length(request) {
        text += &format!("Content-Length: {}\r\n", request.body.as_bytes().len());
    }
    text + "\r\n"
}

/// Returns the head of a request over HTTP/1.1 to this host, for a connection that is closed after
/// it. Checks send their requests so, and no other head than the load does.
///
/// # Errors
/// The request cannot be written as HTTP.
pub fn single_head(request: &RequestSpec, host: &str) -> Result<Vec<u8>, Problem> {
    check(request)?;
    let spec = LoadSpec {
        target: Target {
            host: Some(host.to_owned()),
            ..Target::default()
        },
        keep_alive_off: true,
        ..LoadSpec::default()
    };
    Ok(head(&spec, request).into_bytes())
}

/// Returns the first line of a request.
pub(crate) fn request_line(request: &RequestSpec) -> String {
    format!("{} {} HTTP/1.1\r\n", request.method, escape(&request.path))
}

/// Returns all headers except the length of the body.
pub(crate) fn header_lines(spec: &LoadSpec, request: &RequestSpec) -> String {
    let mut text = String::new();
    if !request.has_header("host") {
        let host = spec.target.host.as_ref().unwrap_or(&spec.target.address);
        text += &format!("Host: {host}\r\n");
    }
    for (name, value) in &request.headers {
        text += &format!("{name}: {value}\r\n");
    }
    if spec.keep_alive_off && !request.has_header("connection") {
        text += "Connection: close\r\n";
    }
    text
}

/// Whether the length of the body must be stated.
pub(crate) fn wants_length(request: &RequestSpec) -> bool {
    let may_have_body = matches!(request.method.as_str(), "POST" | "PUT" | "PATCH");
    (may_have_body || !request.body.is_empty())
        && !request.has_header("content-length")
        && !request.has_header("transfer-encoding")
}

/// Percent-encodes characters that are not allowed in a request line; an encoded path stays.
pub(crate) fn escape(path: &str) -> String {
    let mut escaped = String::with_capacity(path.len());
    for byte in path.bytes() {
        if byte.is_ascii_graphic() {
            escaped.push(char::from(byte));
        } else {
            escaped += &format!("%{byte:02X}");
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::{escape, order};

    #[test]
    fn orders_are_even_and_exact() {
        assert_eq!(order(&[1]), [0]);
        assert_eq!(order(&[2, 2]), [0, 1]);
        assert_eq!(order(&[5, 1, 1]), [0, 0, 1, 0, 2, 0, 0]);
        assert_eq!(order(&[0, 3]), [1]);
        assert!(order(&[]).is_empty());
        assert!(order(&[1, 4_000_000_000]).len() <= 10_001);
    }

    #[test]
    fn paths_are_escaped_once() {
        assert_eq!(escape("/a?q=křemže%20x y"), "/a?q=k%C5%99em%C5%BEe%20x%20y");
    }
}
