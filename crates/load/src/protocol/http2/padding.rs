//! The padding of frames (RFC 9113, 6.1).

use super::error::{ConnectionError, protocol, size};
use super::frame::{Head, flag};

/// Returns the payload of a frame without its padding.
///
/// # Errors
/// There is more padding than payload.
pub(super) fn without_padding(head: Head, payload: &[u8]) -> Result<&[u8], ConnectionError> {
    if !head.has(flag::PADDED) {
        return Ok(payload);
    }
    let (padding, rest) = payload
        .split_first()
        .ok_or_else(|| size("padding without room for its length"))?;
    let length = rest.len().checked_sub(usize::from(*padding));
    length
        .map(|length| &rest[..length])
        .ok_or_else(|| protocol("more padding than payload"))
}
