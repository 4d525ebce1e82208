//! The chunked transfer coding (RFC 9112, 7.1), decoded in pieces of any size and in constant
//! memory: sizes, extensions and trailers are bounded and not kept.

/// Bytes that one size line, or all trailers together, may have.
const LINE_MAX: usize = 16 * 1024;

/// The place of the next byte in the coding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    SizeFirst,
    Size,
    Extension,
    SizeEnd,
    Data,
    DataReturn,
    DataEnd,
    TrailerFirst,
    Trailer,
    TrailersEnd,
    Done,
}

/// A decoder in the middle of a body.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chunked {
    stage: Stage,
    /// Size of the chunk, then the remaining bytes of it.
    left: u64,
    /// Bytes of the line or the trailers so far.
    line: usize,
}

impl Chunked {
    /// A decoder before the first chunk.
    pub(crate) fn new() -> Self {
        Self {
            stage: Stage::SizeFirst,
            left: 0,
            line: 0,
        }
    }

    /// Whether the body has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.stage == Stage::Done
    }

    /// Takes bytes until the body ends, passes the data to `body`, returns how many it took.
    ///
    /// # Errors
    /// A message, when the bytes are not in this coding.
    pub(crate) fn feed(
        &mut self,
        bytes: &[u8],
        body: &mut impl FnMut(&[u8]),
    ) -> Result<usize, &'static str> {
        let mut at = 0;
        while at < bytes.len() && self.stage != Stage::Done {
            if self.stage == Stage::Data {
                let rest = &bytes[at..];
                let take = usize::try_from(self.left).map_or(rest.len(), |n| n.min(rest.len()));
                body(&rest[..take]);
                self.left -= take as u64;
                at += take;
                if self.left == 0 {
                    self.stage = Stage::DataReturn;
                }
            } else {
                self.stage = self.step(bytes[at])?;
                at += 1;
            }
        }
        Ok(at)
    }

    /// One byte of everything that is not data.
    fn step(&mut self, byte: u8) -> Result<Stage, &'static str> {
        self.line += 1;
        if self.line > LINE_MAX {
            return Err("a chunk's size line or the trailers are longer than 16 KiB");
        }
        Ok(match (self.stage, byte) {
            (Stage::SizeFirst, _) => {
                self.left = hex(byte).ok_or("a chunk without a size")?;
                Stage::Size
            }
            (Stage::Size, b'\r') => Stage::SizeEnd,
            (Stage::Size, b';' | b' ' | b'\t') => Stage::Extension,
            (Stage::Size, _) => {
                let digit = hex(byte).ok_or("a chunk's size is not hexadecimal")?;
                if self.left >> 59 != 0 {
                    return Err("a chunk's size is too large");
                }
                self.left = self.left * 16 + digit;
                Stage::Size
            }
            (Stage::Extension, b'\r') => Stage::SizeEnd,
            (Stage::Extension, b'\n') => return Err("a bare line feed in a chunk's extension"),
            (Stage::Extension, _) => Stage::Extension,
            (Stage::SizeEnd, b'\n') => {
                self.line = 0;
                if self.left == 0 {
                    Stage::TrailerFirst
                } else {
                    Stage::Data
                }
            }
            (Stage::DataReturn, b'\r') => Stage::DataEnd,
            (Stage::DataEnd, b'\n') => {
                self.line = 0;
                Stage::SizeFirst
            }
            (Stage::DataReturn | Stage::DataEnd, _) => {
                return Err("a chunk is longer than its size");
            }
            (Stage::TrailerFirst, b'\r') => Stage::TrailersEnd,
            (Stage::TrailerFirst | Stage::Trailer, b'\n') => Stage::TrailerFirst,
            (Stage::TrailerFirst | Stage::Trailer, _) => Stage::Trailer,
            (Stage::TrailersEnd, b'\n') => Stage::Done,
            (Stage::SizeEnd | Stage::TrailersEnd, _) => {
                return Err("a carriage return without a line feed");
            }
            (Stage::Data | Stage::Done, _) => return Err("bytes outside of the coding"),
        })
    }
}

fn hex(byte: u8) -> Option<u64> {
    char::from(byte).to_digit(16).map(u64::from)
}
