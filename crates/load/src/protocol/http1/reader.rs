//! One response after the other out of a stream of bytes.

use bakeoff_base::problem::Problem;

use super::chunked::Chunked;
use super::head::{self, Framing, Head, LastHead};
use crate::protocol::response::{Capture, Response};

/// Bytes that the head of a response, with its interim responses, may have.
const HEAD_MAX: usize = 64 * 1024;

/// Length up to which an incomplete head is parsed again with each piece.
const REPARSE_MAX: usize = 256;

/// The progress of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More bytes are needed.
    More,
    /// The response is complete; this many of the given bytes were not part of it.
    Complete {
        /// Bytes after the response.
        rest: usize,
    },
}

#[derive(Debug, Clone, Copy)]
enum Stage {
    Head,
    Length(u64),
    Chunked(Chunked),
    UntilClose,
}

/// A reader of the responses of one connection.
#[derive(Debug)]
pub(crate) struct Reader {
    stage: Stage,
    /// First part of a head that came in pieces.
    partial: Vec<u8>,
    /// Bytes of heads so far, including interim ones.
    head_bytes: usize,
    head_only: bool,
    keep_alive: bool,
    /// The response as far as it has arrived.
    pub(crate) response: Response,
}

impl Reader {
    /// A reader before its first response.
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::Head,
            partial: Vec::new(),
            head_bytes: 0,
            head_only: false,
            keep_alive: false,
            response: Response::default(),
        }
    }

    /// Starts the next response: to a request whose response has no body (`head_only`), captured as
    /// far as `capture` says.
    #[inline]
    pub(crate) fn begin(&mut self, head_only: bool, capture: Capture) {
        self.stage = Stage::Head;
        self.partial.clear();
        self.head_bytes = 0;
        self.head_only = head_only;
        self.response.begin(capture);
    }

    /// Whether the connection may carry another request.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.keep_alive
    }

    /// Takes the next bytes of the connection. `last` is the head that any connection read last.
    ///
    /// # Errors
    /// A message, when they are not HTTP.
    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8], last: &mut LastHead) -> Result<Progress, Problem> {
        self.response.begun = true;
        if !matches!(self.stage, Stage::Head) {
            return self.feed_body(bytes);
        }
        let plain = self.partial.is_empty() && !self.response.is_captured() && !self.head_only;
        if plain && let Some(head) = last.parse_fast(bytes) {
            self.take_head(&head);
            return self.feed_body(&bytes[head.bytes..]);
        }
        self.feed_head(bytes)
    }

    /// Handles a close by the other side: `true` if that was the end of the response.
    pub(crate) fn finish(&self) -> bool {
        matches!(self.stage, Stage::UntilClose)
    }

    /// Takes the slow path: heads in pieces, interim responses, everything unusual.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<Progress, Problem> {
        if !self.partial.is_empty() {
            // Only what may still belong to a head of allowed length is copied.
            let room = (HEAD_MAX + 1).saturating_sub(self.partial.len());
            let before = self.partial.len();
            self.partial
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
            // A head ends with an empty line: without one a long part need not be parsed
            // again for each byte. A short one is, so that garbage is noticed at once.
            let from = before.saturating_sub(3);
            let length = self.partial.len();
            if (REPARSE_MAX..=HEAD_MAX).contains(&length) && !has_empty_line(&self.partial[from..])
            {
                return Ok(Progress::More);
            }
            let partial = std::mem::take(&mut self.partial);
            let mut used = 0;
            let head = self.parse_heads(&partial, &mut used)?;
            if head {
                return self.feed_body(&bytes[used - before..]);
            }
            if bytes.len() > room {
                return Err(too_long().into());
            }
            self.partial.extend_from_slice(&partial[used..]);
            return Ok(Progress::More);
        }
        let mut used = 0;
        if self.parse_heads(bytes, &mut used)? {
            return self.feed_body(&bytes[used..]);
        }
        let rest = &bytes[used..];
        self.partial
            .extend_from_slice(&rest[..rest.len().min(HEAD_MAX + 1)]);
        Ok(Progress::More)
    }

    /// Reads heads until a final one; `false` when more bytes are needed. `used` counts what was
    /// taken.
    fn parse_heads(&mut self, bytes: &[u8], used: &mut usize) -> Result<bool, Problem> {
        loop {
            let rest = &bytes[*used..];
            let head = head::parse(rest, self.head_only, self.response.headers())?;
            let head_bytes = head.as_ref().map_or(rest.len(), |head| head.bytes);
            if self.head_bytes + head_bytes > HEAD_MAX {
                return Err(too_long().into());
            }
            let Some(head) = head else { return Ok(false) };
            self.head_bytes += head.bytes;
            *used += head.bytes;
            match head.status {
                101 => return Err("status 101 without a request for an upgrade".into()),
                100..200 => {}
                200..1000 => {
                    self.take_head(&head);
                    return Ok(true);
                }
                status => return Err(format!("status {status} does not exist").into()),
            }
        }
    }

    #[inline]
    fn take_head(&mut self, head: &Head) {
        self.response.status = head.status;
        self.keep_alive = head.keep_alive;
        self.stage = match head.framing {
            Framing::Length(length) => Stage::Length(length),
            Framing::Chunked => Stage::Chunked(Chunked::new()),
            Framing::UntilClose => Stage::UntilClose,
        };
    }

    #[inline]
    fn feed_body(&mut self, bytes: &[u8]) -> Result<Progress, Problem> {
        let progress = self.feed_framed(bytes)?;
        if progress == Progress::More && self.response.events_left() == Some(0) {
            // Whatever the service sends after this belongs to no request.
            self.keep_alive = false;
            return Ok(Progress::Complete { rest: 0 });
        }
        Ok(progress)
    }

    #[inline]
    fn feed_framed(&mut self, bytes: &[u8]) -> Result<Progress, Problem> {
        let response = &mut self.response;
        let mut take = |data: &[u8]| response.take_body(data);
        let used = match &mut self.stage {
            Stage::Length(left) => {
                let part = usize::try_from(*left).map_or(bytes.len(), |n| n.min(bytes.len()));
                take(&bytes[..part]);
                *left -= part as u64;
                if *left > 0 {
                    return Ok(Progress::More);
                }
                part
            }
            Stage::Chunked(chunked) => {
                let used = chunked.feed(bytes, &mut take)?;
                if !chunked.is_done() {
                    return Ok(Progress::More);
                }
                used
            }
            Stage::UntilClose => {
                take(bytes);
                return Ok(Progress::More);
            }
            Stage::Head => return Ok(Progress::More),
        };
        Ok(Progress::Complete {
            rest: bytes.len() - used,
        })
    }
}

fn too_long() -> String {
    format!("headers longer than {HEAD_MAX} bytes")
}

/// Whether two line ends follow each other, in either spelling.
fn has_empty_line(bytes: &[u8]) -> bool {
    memchr::memmem::find(bytes, b"\n\r\n").is_some()
        || memchr::memmem::find(bytes, b"\n\n").is_some()
}
