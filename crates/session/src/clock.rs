//! The wall clock, as text for records. The only place that reads it.

use jiff::Timestamp;

/// Now in UTC as RFC 3339, to the second.
#[must_use]
pub fn now_rfc3339() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Now as a part of a folder's name: `20261121-040506`.
#[must_use]
pub fn now_compact() -> String {
    Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// A seed that differs from session to session.
#[must_use]
pub fn fresh_seed() -> u64 {
    u64::from(Timestamp::now().subsec_nanosecond().unsigned_abs())
}
