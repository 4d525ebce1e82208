//! The head of a response: status, framing of the body, fate of the connection.

use std::cell::RefCell;
use std::rc::Rc;

use bakeoff_base::problem::Problem;

use crate::protocol::token::is_token;

/// Headers that one response may have; more is refused as bad framing.
const HEADERS_MAX: usize = 128;

/// The end of a response's body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// The body ends after this many bytes.
    Length(u64),
    /// The body ends with the last chunk.
    Chunked,
    /// The body ends with the connection.
    UntilClose,
}

/// The head of a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    /// Bytes that the head took.
    pub(crate) bytes: usize,
    /// The status.
    pub(crate) status: u16,
    /// The end of the body.
    pub(crate) framing: Framing,
    /// Whether the connection may carry another request.
    pub(crate) keep_alive: bool,
}

/// Bytes of a header name as a table: one look-up a byte instead of a chain of comparisons.
const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0_u8;
    loop {
        table[byte as usize] = is_token(byte);
        if byte == u8::MAX {
            break table;
        }
        byte += 1;
    }
};

/// Reads a complete, ordinary HTTP/1.1 head: status, content-length, nothing that changes the
/// framing. `None` for everything else, which [`parse`] then decides.
fn parse_fast(bytes: &[u8]) -> Option<Head> {
    let line = bytes.first_chunk::<13>()?;
    if !line.starts_with(b"HTTP/1.1 ") || !matches!(line[12], b' ' | b'\r') {
        return None;
    }
    let status = status_of([line[9], line[10], line[11]])?;
    if status < 200 || status == 204 || status == 304 {
        return None;
    }
    let mut at = memchr::memchr(b'\n', bytes)? + 1;
    if bytes[at - 2] != b'\r' {
        return None;
    }
    let mut length = None;
    let mut keep_alive = true;
    let mut headers = 0;
    loop {
        let rest = &bytes[at..];
        if rest.starts_with(b"\r\n") {
            at += 2;
            break;
        }
        let colon = rest.iter().position(|&byte| !TOKEN[usize::from(byte)])?;
        if colon == 0 || rest[colon] != b':' {
            return None;
        }
        let end = memchr::memchr(b'\n', rest)?;
        if end < colon + 2 || rest[end - 1] != b'\r' {
            return None;
        }
        let name = &rest[..colon];
        match colon {
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                let value = length_of(&rest[colon + 1..end - 1])?;
                if length.replace(value).is_some() {
                    return None;
                }
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                let value = rest[colon + 1..end - 1].trim_ascii();
                if value.eq_ignore_ascii_case(b"close") {
                    keep_alive = false;
                } else if !value.eq_ignore_ascii_case(b"keep-alive") {
                    return None;
                }
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => return None,
            _ => {}
        }
        at += end + 1;
        headers += 1;
    }
    // Two control bytes end each line; any other one is for the slow path to judge.
    let controls = |byte: &&u8| **byte < b' ' || **byte == 0x7F;
    if headers > HEADERS_MAX || bytes[..at].iter().filter(controls).count() != 2 * (headers + 2) {
        return None;
    }
    Some(Head {
        bytes: at,
        status,
        framing: Framing::Length(length?),
        keep_alive,
    })
}

/// The head that any connection of a thread read last, shared by all of them.
pub(crate) type HeadCache = Rc<RefCell<LastHead>>;

/// The head that was read last. A service mostly repeats itself to the byte, at least until the
/// second in its `Date` changes, and comparing costs a fraction of reading.
#[derive(Debug, Default)]
pub(crate) struct LastHead {
    bytes: Vec<u8>,
    head: Option<Head>,
}

impl LastHead {
    /// Reads a head as [`parse_fast`] does.
    #[inline]
    pub(crate) fn parse_fast(&mut self, bytes: &[u8]) -> Option<Head> {
        if self.head.is_some() && bytes.starts_with(&self.bytes) {
            return self.head;
        }
        self.head = parse_fast(bytes);
        if let Some(head) = &self.head {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..head.bytes]);
        }
        self.head
    }
}

/// Reads any HTTP/1.x head; `Ok(None)` when it is not complete yet. With `keep` the headers are
/// collected into it, names in lower case.
///
/// # Errors
/// A message, when the bytes are not the head of an HTTP response.
pub(crate) fn parse(
    bytes: &[u8],
    head_only: bool,
    keep: Option<&mut Vec<(String, String)>>,
) -> Result<Option<Head>, Problem> {
    let mut headers = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut response = httparse::Response::new(&mut headers);
    let length = match response.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(error) => {
            if is_http2(bytes) {
                return Err("the service speaks HTTP/2, not HTTP/1.1".into());
            }
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or(&[]);
            let line = String::from_utf8_lossy(&line[..line.len().min(60)]);
            return Err(format!("{error}; the response begins with {line:?}").into());
        }
    };
    let status = response.code.unwrap_or(0);
    let mut fields = Fields::new(response.version == Some(1));
    for header in response.headers.iter() {
        fields.add(header.name, header.value)?;
    }
    if let Some(keep) = keep {
        keep.clear();
        keep.extend(response.headers.iter().map(|header| {
            let value = String::from_utf8_lossy(header.value).into_owned();
            (header.name.to_ascii_lowercase(), value)
        }));
    }
    let framing = fields.framing(status, head_only)?;
    Ok(Some(Head {
        bytes: length,
        status,
        framing,
        keep_alive: fields.keep_alive && framing != Framing::UntilClose,
    }))
}

/// Whether bytes begin with the frame that every server of HTTP/2 sends first: SETTINGS, on no
/// stream (RFC 9113, 3.4).
fn is_http2(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, _, 4, 0, 0, 0, 0, 0, ..])
}

/// The header fields that determine framing and connection.
struct Fields {
    length: Option<u64>,
    encoded: bool,
    chunked: bool,
    keep_alive: bool,
}

impl Fields {
    fn new(keep_alive: bool) -> Self {
        Self {
            length: None,
            encoded: false,
            chunked: false,
            keep_alive,
        }
    }

    fn add(&mut self, name: &str, value: &[u8]) -> Result<(), Problem> {
        let words = || value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        if name.eq_ignore_ascii_case("content-length") {
            let length = length_of(value).ok_or_else(|| {
                let value = String::from_utf8_lossy(&value[..value.len().min(40)]);
                format!("content-length {value:?} is not a number")
            })?;
            if self.length.is_some_and(|known| known != length) {
                return Err("two different content-lengths".into());
            }
            self.length = Some(length);
        } else if name.eq_ignore_ascii_case("transfer-encoding") {
            self.encoded = true;
            self.chunked = words()
                .next_back()
                .is_some_and(|word| word.eq_ignore_ascii_case(b"chunked"));
        } else if name.eq_ignore_ascii_case("connection") {
            if words().any(|word| word.eq_ignore_ascii_case(b"close")) {
                self.keep_alive = false;
            } else if words().any(|word| word.eq_ignore_ascii_case(b"keep-alive")) {
                self.keep_alive = true;
            }
        }
        Ok(())
    }

    /// Determines the framing, in the order of RFC 9112, 6.3.
    fn framing(&self, status: u16, head_only: bool) -> Result<Framing, Problem> {
        if head_only || status < 200 || status == 204 || status == 304 {
            return Ok(Framing::Length(0));
        }
        if self.encoded {
            if self.length.is_some() {
                return Err("both a content-length and a transfer-encoding".into());
            }
            return Ok(if self.chunked {
                Framing::Chunked
            } else {
                Framing::UntilClose
            });
        }
        Ok(self.length.map_or(Framing::UntilClose, Framing::Length))
    }
}

fn status_of(digits: [u8; 3]) -> Option<u16> {
    let mut status = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        status = status * 10 + u16::from(digit - b'0');
    }
    Some(status)
}

/// Reads a length: digits only, and no more of them than fit; a sign or a list is not a length.
fn length_of(value: &[u8]) -> Option<u64> {
    let digits = value.trim_ascii();
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0_u64, |length, digit| {
        let value = digit.wrapping_sub(b'0');
        (value < 10).then(|| length * 10 + u64::from(value))
    })
}
