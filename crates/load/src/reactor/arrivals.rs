//! When bytes arrived, as the kernel notes it: on the wall clock, so that the distance of that
//! clock to ours has to be known.

use crate::clock::wall_ahead_ns;

/// How long the distance of the two clocks is taken for granted: it changes only when somebody sets
/// the wall clock.
const AHEAD_AGE_MAX_NS: u64 = 10_000_000;

/// From the kernel's notes to monotonic time.
#[derive(Debug, Default)]
pub(super) struct Arrivals {
    /// How far the wall clock is ahead of the monotonic one.
    ahead_ns: u64,
    /// When that was read, monotonic ns.
    read_ns: u64,
}

impl Arrivals {
    /// Reads the distance of the clocks anew if the last reading is old.
    #[inline]
    pub(super) fn renew(&mut self, now_ns: u64) {
        if now_ns - self.read_ns >= AHEAD_AGE_MAX_NS {
            self.ahead_ns = wall_ahead_ns();
            self.read_ns = now_ns;
        }
    }

    /// When something came that was found at `found_ns` and that the kernel noted at `stamp_ns`, in
    /// nanoseconds since the Unix epoch; without a note when it was found.
    #[inline]
    pub(super) fn instant(&self, stamp_ns: Option<u64>, found_ns: u64) -> u64 {
        let noted_ns = stamp_ns.map(|stamp_ns| stamp_ns.saturating_sub(self.ahead_ns));
        noted_ns.map_or(found_ns, |noted_ns| noted_ns.min(found_ns))
    }
}
