//! Arrival times of bytes, by the kernel's receive timestamps, which use the wall clock, so that
//! its distance to the monotonic clock must be known.

use crate::clock::wall_ahead_ns;

/// How long the distance of the two clocks is assumed to be constant: it only changes when the wall
/// clock is set.
const AHEAD_AGE_MAX_NS: u64 = 10_000_000;

/// Converts the kernel's receive timestamps to monotonic time.
#[derive(Debug, Default)]
pub(super) struct ReceiveClock {
    /// How far the wall clock is ahead of the monotonic one.
    ahead_ns: u64,
    /// When the distance was read, monotonic ns.
    read_ns: u64,
}

impl ReceiveClock {
    /// Reads the distance of the clocks again if the last reading is old.
    #[inline]
    pub(super) fn refresh(&mut self, now_ns: u64) {
        if now_ns - self.read_ns >= AHEAD_AGE_MAX_NS {
            self.ahead_ns = wall_ahead_ns();
            self.read_ns = now_ns;
        }
    }

    /// Returns when bytes arrived that were found at `found_ns` and have a kernel timestamp, in
    /// nanoseconds since the Unix epoch; without a timestamp, when they were found.
    #[inline]
    pub(super) fn received_ns(&self, timestamp_ns: Option<u64>, found_ns: u64) -> u64 {
        let arrived_ns = timestamp_ns.map(|ns| ns.saturating_sub(self.ahead_ns));
        arrived_ns.map_or(found_ns, |arrived_ns| arrived_ns.min(found_ns))
    }
}
