//! Completions of io_uring: the result, and the request that it belongs to, in the 64 bits that the
//! kernel passes through.

use io_uring::cqueue;
use rustix::io::Errno;

/// The kind of a request, in the lowest two bits of its token.
pub(super) const CONNECT: u64 = 0;
pub(super) const RECEIVE: u64 = 1;
pub(super) const SEND: u64 = 2;
pub(super) const CANCEL: u64 = 3;

/// A completion, copied out of the ring.
#[derive(Debug, Clone, Copy)]
pub(super) struct Completion {
    /// Token of the request.
    pub(super) token: u64,
    result: i32,
    /// Flags from the kernel.
    pub(super) flags: u32,
}

impl Completion {
    /// Copies an entry.
    #[inline]
    pub(super) fn of(entry: &cqueue::Entry) -> Self {
        Self {
            token: entry.user_data(),
            result: entry.result(),
            flags: entry.flags(),
        }
    }

    /// Returns the result of the request, as a rule a number of bytes.
    #[inline]
    pub(super) fn amount(self) -> Result<usize, Errno> {
        usize::try_from(self.result).map_err(|_| Errno::from_raw_os_error(-self.result))
    }
}

/// Packs connection, generation and kind into one number.
pub(super) fn token(connection: usize, generation: u32, kind: u64) -> u64 {
    (connection as u64) << 34 | u64::from(generation) << 2 | kind
}

/// Unpacks connection, generation and kind from a token.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the parts of what `token` made"
)]
pub(super) fn untoken(token: u64) -> (usize, u32, u64) {
    ((token >> 34) as usize, (token >> 2) as u32, token & 3)
}
