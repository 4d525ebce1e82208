//! The head of a response: the requirements for its header fields (RFC 9113, 8.2 and 8.3), and
//! their values.

/// Maximum bytes of all fields of a response, including interim ones and trailers.
const FIELDS_MAX: usize = 64 * 1024;

/// Headers that belong to a connection of HTTP/1.1.
const FORBIDDEN: [&[u8]; 5] = [
    b"connection",
    b"keep-alive",
    b"proxy-connection",
    b"transfer-encoding",
    b"upgrade",
];

/// A head being read.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// The status; 0 = none.
    pub(super) status: u16,
    /// The content-length.
    pub(super) length: Option<u64>,
    /// The status of a gRPC call.
    pub(super) grpc_status: Option<u16>,
    /// Bytes of the fields.
    pub(super) bytes: usize,
    regular: bool,
    bad: Option<&'static str>,
}

impl Head {
    /// Takes a field, and appends it to `keep` if there is one.
    pub(super) fn add(
        &mut self,
        name: &[u8],
        value: &[u8],
        keep: Option<&mut Vec<(String, String)>>,
    ) {
        self.bytes += name.len() + value.len();
        let judged = if self.bytes > FIELDS_MAX {
            Err("headers longer than 64 KiB")
        } else {
            self.judge(name, value)
        };
        match (judged, keep) {
            (Err(bad), _) => self.bad = self.bad.or(Some(bad)),
            (Ok(()), Some(keep)) if !name.starts_with(b":") => {
                let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
                keep.push((text(name), text(value)));
            }
            _ => {}
        }
    }

    fn judge(&mut self, name: &[u8], value: &[u8]) -> Result<(), &'static str> {
        if name == b":status" {
            if self.regular || self.status != 0 {
                return Err("a status where none may be");
            }
            self.status = status_of(value).ok_or("a status that is not a number")?;
            return Ok(());
        }
        if name.first().is_none_or(|first| *first == b':') {
            return Err("a header without a name, or an unknown pseudo-header");
        }
        self.regular = true;
        if name.iter().any(|byte| !is_name(*byte)) {
            return Err("a header name that is not in lower case or not a token");
        }
        if value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)) {
            return Err("a line break in a header value");
        }
        if FORBIDDEN.contains(&name) {
            return Err("a header of HTTP/1.1 connections");
        }
        if name == b"grpc-status" {
            self.grpc_status =
                Some(grpc_status_of(value).ok_or("a grpc-status that is not a number")?);
        }
        if name == b"content-length" {
            let length = length_of(value).ok_or("a content-length that is not a number")?;
            if self.length.is_some_and(|known| known != length) {
                return Err("two different content-lengths");
            }
            self.length = Some(length);
        }
        Ok(())
    }

    /// Whether this was the head of a response.
    ///
    /// # Errors
    /// A message, when not.
    pub(super) fn check(&self) -> Result<(), &'static str> {
        match (self.bad, self.status) {
            (Some(bad), _) => Err(bad),
            (None, 0) => Err("a response without a status"),
            (None, 101) => Err("status 101, which HTTP/2 does not have"),
            _ => Ok(()),
        }
    }

    /// Whether these were trailers.
    ///
    /// # Errors
    /// A message, when not.
    pub(super) fn check_trailers(&self) -> Result<(), &'static str> {
        match (self.bad, self.status) {
            (Some(bad), _) => Err(bad),
            (None, 0) => Ok(()),
            _ => Err("a status after the body"),
        }
    }
}

fn is_name(byte: u8) -> bool {
    crate::protocol::token::is_token(byte) && !byte.is_ascii_uppercase()
}

fn status_of(digits: &[u8]) -> Option<u16> {
    let [first @ b'1'..=b'9', second, third] = digits else {
        return None;
    };
    [first, second, third]
        .into_iter()
        .try_fold(0, |status, digit| {
            let value = digit.wrapping_sub(b'0');
            (value < 10).then(|| status * 10 + u16::from(value))
        })
}

/// Reads a gRPC status: digits only, and no more of them than a status has.
fn grpc_status_of(digits: &[u8]) -> Option<u16> {
    let number = length_of(digits).filter(|_| digits.len() <= 3)?;
    u16::try_from(number).ok()
}

/// Reads a length: digits only, and no more of them than fit.
fn length_of(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    digits.iter().try_fold(0_u64, |length, digit| {
        let value = digit.wrapping_sub(b'0');
        (value < 10).then(|| length * 10 + u64::from(value))
    })
}
