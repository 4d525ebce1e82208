//! Whole numbers as floating point.

/// A count or a time as a double. Exact up to 2^53 (104 days in nanoseconds), which is more than
/// anything that a run counts or times.
#[must_use]
#[inline]
#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a run stay below 2^53"
)]
pub const fn as_f64(count: u64) -> f64 {
    count as f64
}

/// A length as a double, see [`as_f64`].
#[must_use]
#[inline]
pub const fn length_as_f64(length: usize) -> f64 {
    as_f64(length as u64)
}
