//! One answer after the other out of a stream of bytes.

use bakeoff_model::check::Answer;

use super::chunked::Chunked;
use super::head::{self, Framing, Head};

/// Bytes that the head of an answer, with its interim answers, may have.
const HEAD_MAX: usize = 64 * 1024;

/// Length up to which the beginning of a head is parsed again with each piece.
const REPARSE_MAX: usize = 256;

/// Bytes of a sampled body that are kept; a longer one cannot be checked and says so.
const BODY_MAX: usize = 64 * 1024 * 1024;

/// Memory that a reader keeps for the next sampled body.
const BODY_KEEP: usize = 64 * 1024;

/// How far an answer has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    /// More bytes are needed.
    More,
    /// The answer is whole; this many of the given bytes were not part of it.
    Whole {
        /// Bytes after the answer.
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

/// A reader of the answers of one connection.
#[derive(Debug)]
pub(crate) struct Reader {
    stage: Stage,
    /// Beginning of a head that came in pieces.
    partial: Vec<u8>,
    /// Bytes of heads so far, interim ones too.
    head_bytes: usize,
    /// Any byte of the answer has come.
    begun: bool,
    head_only: bool,
    status: u16,
    keep_alive: bool,
    body_bytes: u64,
    /// The answer is a sampled one.
    sampled: bool,
    /// The sampled answer; boxed because most connections never have one.
    sample: Option<Box<Sample>>,
}

#[derive(Debug, Default)]
struct Sample {
    answer: Answer,
    cut: bool,
}

impl Reader {
    /// A reader before its first answer.
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::Head,
            partial: Vec::new(),
            head_bytes: 0,
            begun: false,
            head_only: false,
            status: 0,
            keep_alive: false,
            body_bytes: 0,
            sampled: false,
            sample: None,
        }
    }

    /// Begins the next answer: to a request whose answer has no body (`head_only`), kept when
    /// `sampled`.
    #[inline]
    pub(crate) fn begin(&mut self, head_only: bool, sampled: bool) {
        self.stage = Stage::Head;
        self.partial.clear();
        self.head_bytes = 0;
        self.begun = false;
        self.head_only = head_only;
        self.body_bytes = 0;
        self.sampled = sampled;
        if sampled {
            let sample = self.sample.get_or_insert_default();
            sample.cut = false;
            sample.answer.body.clear();
            sample.answer.body.shrink_to(BODY_KEEP);
        }
    }

    /// Whether any byte of the answer has come.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }

    /// The status of the answer, once its head is whole.
    pub(crate) fn status(&self) -> u16 {
        self.status
    }

    /// Bytes of the body so far.
    pub(crate) fn body_bytes(&self) -> u64 {
        self.body_bytes
    }

    /// Whether the connection may carry another request.
    pub(crate) fn keeps_alive(&self) -> bool {
        self.keep_alive
    }

    /// Whether the answer is one of the sampled ones.
    pub(crate) fn is_sampled(&self) -> bool {
        self.sampled
    }

    /// The sampled answer, `None` when this one is not sampled.
    ///
    /// # Errors
    /// In words, when its body was too long to be kept.
    pub(crate) fn sample(&mut self) -> Option<Result<&Answer, String>> {
        let sample = self.sample.as_mut().filter(|_| self.sampled)?;
        if sample.cut {
            let bytes = self.body_bytes;
            return Some(Err(format!("a body of {bytes} bytes is too long to check")));
        }
        sample.answer.status = self.status;
        Some(Ok(&sample.answer))
    }

    /// Takes the next bytes of the connection.
    ///
    /// # Errors
    /// In words, when they are not HTTP.
    #[inline]
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Progress, String> {
        self.begun = true;
        if !matches!(self.stage, Stage::Head) {
            return self.feed_body(bytes);
        }
        let plain = self.partial.is_empty() && !self.sampled && !self.head_only;
        if plain && let Some(head) = head::parse_fast(bytes) {
            self.take_head(&head);
            return self.feed_body(&bytes[head.bytes..]);
        }
        self.feed_head(bytes)
    }

    /// The connection was closed by the other side: `true` when that was the end of the answer.
    pub(crate) fn finish(&self) -> bool {
        matches!(self.stage, Stage::UntilClose)
    }

    /// The slow path: heads in pieces, interim answers, everything unusual.
    fn feed_head(&mut self, bytes: &[u8]) -> Result<Progress, String> {
        if !self.partial.is_empty() {
            // Only what may still belong to a head of allowed length is copied.
            let room = (HEAD_MAX + 1).saturating_sub(self.partial.len());
            let before = self.partial.len();
            self.partial
                .extend_from_slice(&bytes[..bytes.len().min(room)]);
            // A head ends with an empty line: without one a long beginning need not be parsed
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
                return Err(too_long());
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
    fn parse_heads(&mut self, bytes: &[u8], used: &mut usize) -> Result<bool, String> {
        loop {
            let rest = &bytes[*used..];
            let keep = self.sample.as_mut().filter(|_| self.sampled);
            let headers = keep.map(|sample| &mut sample.answer.headers);
            let head = head::parse(rest, self.head_only, headers)?;
            let head_bytes = head.as_ref().map_or(rest.len(), |head| head.bytes);
            if self.head_bytes + head_bytes > HEAD_MAX {
                return Err(too_long());
            }
            let Some(head) = head else { return Ok(false) };
            self.head_bytes += head.bytes;
            *used += head.bytes;
            match head.status {
                101 => return Err("status 101 without having asked for another protocol".into()),
                100..200 => {}
                200..1000 => {
                    self.take_head(&head);
                    return Ok(true);
                }
                status => return Err(format!("status {status} does not exist")),
            }
        }
    }

    #[inline]
    fn take_head(&mut self, head: &Head) {
        self.status = head.status;
        self.keep_alive = head.keep_alive;
        self.stage = match head.framing {
            Framing::Length(length) => Stage::Length(length),
            Framing::Chunked => Stage::Chunked(Chunked::new()),
            Framing::UntilClose => Stage::UntilClose,
        };
    }

    #[inline]
    fn feed_body(&mut self, bytes: &[u8]) -> Result<Progress, String> {
        let mut sample = self.sample.as_deref_mut().filter(|_| self.sampled);
        let counted = &mut self.body_bytes;
        let mut take = |data: &[u8]| {
            *counted += data.len() as u64;
            if let Some(sample) = sample.as_deref_mut() {
                sample.keep(data);
            }
        };
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
        Ok(Progress::Whole {
            rest: bytes.len() - used,
        })
    }
}

impl Sample {
    fn keep(&mut self, data: &[u8]) {
        if self.answer.body.len() + data.len() > BODY_MAX {
            self.cut = true;
        } else {
            self.answer.body.extend_from_slice(data);
        }
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
