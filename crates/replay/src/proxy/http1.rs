//! Reads the messages of an HTTP/1.1 connection as they pass. What cannot be read passes all the
//! same, but nothing after it on this connection is taken.

use std::collections::VecDeque;
use std::time::Instant;

use bakeoff_base::problem::Problem;

use super::exchange::{Body, Exchange, Exchanges, SentRequest};

/// Most headers of a message.
const HEADERS_MAX: usize = 256;

/// Most bytes of a head; servers refuse much shorter ones.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// Most bytes of a line between the chunks of a body.
const CHUNK_LINE_MAX: usize = 8 << 10;

/// Most bytes of a request's body that are kept.
pub(super) const REQUEST_BYTES_MAX: usize = 64 << 20;

/// The messages of one connection, in both directions.
pub(super) struct Conversation<'e> {
    exchanges: &'e dyn Exchanges,
    requests: Reader,
    responses: Reader,
    /// Requests without a complete response, the oldest first.
    open: VecDeque<Open>,
    /// Whether what passes cannot be read any more.
    is_over: bool,
}

/// A request, and its response as far as it has come.
struct Open {
    request: SentRequest,
    is_whole: bool,
    arrived: Instant,
    status: u16,
    headers: Vec<(String, String)>,
    body: Body,
    has_ended: bool,
}

/// The position in a message.
enum Reader {
    /// In the head: the bytes that have come.
    Head(Vec<u8>),
    /// In the body.
    Body(Framing),
}

impl Default for Reader {
    fn default() -> Self {
        Self::Head(Vec::new())
    }
}

impl<'e> Conversation<'e> {
    /// Returns a conversation before its first byte.
    pub(super) fn new(exchanges: &'e dyn Exchanges) -> Self {
        Self {
            exchanges,
            requests: Reader::default(),
            responses: Reader::default(),
            open: VecDeque::new(),
            is_over: false,
        }
    }

    /// Reads bytes of the client.
    pub(super) fn sent(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_over {
            let read = match &mut self.requests {
                Reader::Head(head) => match take_head(head, &mut bytes) {
                    Ok(Some(head)) => self.begin_request(&head),
                    other => other.map(drop),
                },
                Reader::Body(framing) => {
                    let body = self.open.back_mut().map(|open| &mut open.request.body);
                    match framing.take(&mut bytes, body) {
                        Ok(true) => {
                            self.end_request();
                            Ok(())
                        }
                        other => other.map(drop),
                    }
                }
            };
            if let Err(why) = read {
                self.fail("a request that is not HTTP/1.1", &why);
            }
        }
    }

    /// Reads bytes of the server.
    pub(super) fn received(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() && !self.is_over {
            let read = match &mut self.responses {
                Reader::Head(head) => match take_head(head, &mut bytes) {
                    Ok(Some(head)) => self.begin_response(&head),
                    other => other.map(drop),
                },
                Reader::Body(framing) => {
                    let open = self.open.iter_mut().find(|open| !open.has_ended);
                    match framing.take(&mut bytes, open.map(|open| &mut open.body)) {
                        Ok(true) => {
                            self.end_response();
                            Ok(())
                        }
                        other => other.map(drop),
                    }
                }
            };
            if let Err(why) = read {
                self.fail("a response", &why);
            }
        }
    }

    /// Takes nothing more of this connection. `what` failed, unless a request waits for its
    /// response, which then did.
    pub(super) fn fail(&mut self, what: &str, why: &Problem) {
        self.is_over = true;
        let waiting = self.open.pop_front().map(|open| open.request.line());
        let what = waiting.as_deref().unwrap_or(what);
        self.exchanges.leave_out(what, why.message());
    }

    fn begin_request(&mut self, head: &[u8]) -> Result<(), Problem> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Request::new(&mut headers);
        parsed.parse(head).map_err(Problem::new)?;
        let headers = pairs(parsed.headers);
        let framing = framing(&headers, None)?;
        self.open.push_back(Open {
            request: SentRequest {
                method: parsed.method.unwrap_or_default().to_owned(),
                target: parsed.path.unwrap_or_default().to_owned(),
                headers,
                body: Body::new(REQUEST_BYTES_MAX),
            },
            is_whole: false,
            arrived: Instant::now(),
            status: 0,
            headers: Vec::new(),
            body: Body::new(self.exchanges.response_bytes_max()),
            has_ended: false,
        });
        match framing {
            Some(framing) => self.requests = Reader::Body(framing),
            None => self.end_request(),
        }
        Ok(())
    }

    fn end_request(&mut self) {
        self.requests = Reader::default();
        if let Some(open) = self.open.back_mut() {
            open.is_whole = true;
        }
        self.hand_over();
    }

    fn begin_response(&mut self, head: &[u8]) -> Result<(), Problem> {
        let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut parsed = httparse::Response::new(&mut headers);
        parsed.parse(head).map_err(Problem::new)?;
        let status = parsed.code.unwrap_or_default();
        let Some(open) = self.open.iter_mut().find(|open| !open.has_ended) else {
            return Err("it belongs to no request".into());
        };
        match status {
            101 => return Err("it changes to another protocol".into()),
            // The response itself follows.
            100..=199 => return Ok(()),
            _ => {}
        }
        open.status = status;
        open.headers = pairs(parsed.headers);
        let has_none = open.request.method == "HEAD" || matches!(status, 204 | 304);
        let otherwise = (!has_none).then_some(Framing::UntilClosed);
        let framing = match has_none {
            true => None,
            false => framing(&open.headers, otherwise)?,
        };
        match framing {
            Some(framing) => self.responses = Reader::Body(framing),
            None => self.end_response(),
        }
        Ok(())
    }

    fn end_response(&mut self) {
        self.responses = Reader::default();
        if let Some(open) = self.open.iter_mut().find(|open| !open.has_ended) {
            open.has_ended = true;
        }
        self.hand_over();
    }

    /// Hands over the exchanges that are complete.
    fn hand_over(&mut self) {
        let is_complete = |open: &Open| open.is_whole && open.has_ended;
        while self.open.front().is_some_and(is_complete) {
            let Some(open) = self.open.pop_front() else {
                return;
            };
            self.exchanges.take(Exchange {
                is_http2: false,
                request: open.request,
                status: open.status,
                headers: open.headers,
                body: open.body,
                arrived: open.arrived,
                took: open.arrived.elapsed(),
            });
        }
    }
}

impl Drop for Conversation<'_> {
    /// The connection has ended.
    fn drop(&mut self) {
        if let Reader::Body(Framing::UntilClosed) = self.responses {
            self.end_response();
        }
        for open in &self.open {
            let why = "it has no complete response";
            self.exchanges.leave_out(&open.request.line(), why);
        }
    }
}

/// Moves the bytes of a head. Returns it when it is complete.
fn take_head(head: &mut Vec<u8>, bytes: &mut &[u8]) -> Result<Option<Vec<u8>>, Problem> {
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        // Line ends before a head are skipped (RFC 9112, 2.2).
        if head.is_empty() && matches!(byte, b'\r' | b'\n') {
            continue;
        }
        head.push(byte);
        if byte == b'\n' && (head.ends_with(b"\r\n\r\n") || head.ends_with(b"\n\n")) {
            return Ok(Some(std::mem::take(head)));
        }
        if head.len() >= HEAD_BYTES_MAX {
            return Err(format!("its headers are longer than {HEAD_BYTES_MAX} bytes").into());
        }
    }
    Ok(None)
}

fn pairs(headers: &[httparse::Header<'_>]) -> Vec<(String, String)> {
    let pairs = headers.iter().map(|header| {
        let value = String::from_utf8_lossy(header.value).into_owned();
        (header.name.to_owned(), value)
    });
    pairs.collect()
}

/// How the end of a body is found.
enum Framing {
    /// After this number of bytes.
    Length(u64),
    /// In chunks.
    Chunks(Chunks),
    /// At the end of the connection.
    UntilClosed,
}

/// Returns the framing that these headers say, or else `otherwise` (RFC 9112, 6.3); `None` without
/// a body.
fn framing(
    headers: &[(String, String)],
    otherwise: Option<Framing>,
) -> Result<Option<Framing>, Problem> {
    let value = |wanted: &str| {
        let mut headers = headers.iter().rev();
        let found = headers.find(|(name, _)| name.eq_ignore_ascii_case(wanted));
        found.map(|(_, value)| value.trim())
    };
    if let Some(coding) = value("transfer-encoding") {
        let last = coding.rsplit(',').next().unwrap_or_default();
        return match last.trim().eq_ignore_ascii_case("chunked") {
            true => Ok(Some(Framing::Chunks(Chunks::default()))),
            false => Err(format!("its transfer encoding is {coding}").into()),
        };
    }
    match value("content-length").map(str::parse) {
        Some(Ok(0)) => Ok(None),
        Some(Ok(length)) => Ok(Some(Framing::Length(length))),
        Some(Err(_)) => Err("its content length is not a number".into()),
        None => Ok(otherwise),
    }
}

impl Framing {
    /// Moves bytes to a body. Returns whether it is complete.
    fn take(&mut self, bytes: &mut &[u8], body: Option<&mut Body>) -> Result<bool, Problem> {
        match self {
            Self::UntilClosed => {
                moved(bytes, u64::MAX, body);
                Ok(false)
            }
            Self::Length(left) => {
                *left -= moved(bytes, *left, body);
                Ok(*left == 0)
            }
            Self::Chunks(chunks) => chunks.take(bytes, body),
        }
    }
}

/// Moves at most this number of bytes. Returns how many.
fn moved(bytes: &mut &[u8], at_most: u64, body: Option<&mut Body>) -> u64 {
    let at_most = usize::try_from(at_most).unwrap_or(usize::MAX);
    let (moved, rest) = bytes.split_at(at_most.min(bytes.len()));
    if let Some(body) = body {
        body.push(moved);
    }
    *bytes = rest;
    moved.len() as u64
}

/// A chunked body.
#[derive(Default)]
struct Chunks {
    position: ChunkPosition,
    /// The bytes of the current line.
    line: Vec<u8>,
}

/// The position in a chunked body.
#[derive(Default)]
enum ChunkPosition {
    /// In the line that says how long the chunk is.
    #[default]
    Size,
    /// In a chunk of which this number of bytes is left.
    Data(u64),
    /// In the line end after a chunk.
    End,
    /// In a line after the last chunk.
    Trailer,
}

impl Chunks {
    fn take(&mut self, bytes: &mut &[u8], body: Option<&mut Body>) -> Result<bool, Problem> {
        if let ChunkPosition::Data(left) = &mut self.position {
            *left -= moved(bytes, *left, body);
            if *left == 0 {
                self.position = ChunkPosition::End;
            }
            return Ok(false);
        }
        if !take_line(&mut self.line, bytes)? {
            return Ok(false);
        }
        let line = std::mem::take(&mut self.line);
        self.position = match self.position {
            ChunkPosition::Size => match httparse::parse_chunk_size(&line) {
                Ok(httparse::Status::Complete((_, 0))) => ChunkPosition::Trailer,
                Ok(httparse::Status::Complete((_, size))) => ChunkPosition::Data(size),
                _ => return Err("a chunk of its body has no length".into()),
            },
            ChunkPosition::Trailer if line.trim_ascii().is_empty() => return Ok(true),
            ChunkPosition::Trailer => ChunkPosition::Trailer,
            ChunkPosition::End | ChunkPosition::Data(_) => ChunkPosition::Size,
        };
        Ok(false)
    }
}

/// Moves bytes to the end of a line. Returns whether it has come.
fn take_line(line: &mut Vec<u8>, bytes: &mut &[u8]) -> Result<bool, Problem> {
    while let Some((&byte, rest)) = bytes.split_first() {
        *bytes = rest;
        line.push(byte);
        if byte == b'\n' {
            return Ok(true);
        }
        if line.len() >= CHUNK_LINE_MAX {
            return Err("a line between the chunks of its body has no end".into());
        }
    }
    Ok(false)
}
