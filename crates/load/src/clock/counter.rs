//! The processor's timestamp counter, which gives the time between two readings of the kernel's
//! clock at less than half the cost of a reading.
//!
//! Only used if the kernel's clock is based on the same counter, which shows that it runs at one
//! rate on all cores. The rate is the one between the last two readings, so it follows a clock that
//! the kernel slews.

#![expect(unsafe_code, reason = "the counter is in no safe wrapper")]

use std::arch::x86_64::_rdtsc;
use std::cell::Cell;
use std::sync::LazyLock;

use super::kernel_ns;

/// How long the counter is used before the kernel's clock is read again, ns.
const TRUSTED_NS: u64 = 10_000_000;

/// Minimum distance between two readings that give the rate, ns: their own error is some 50 ns.
const APART_NS: u64 = 1_000_000;

/// Ticks between two readings of the counter above which the thread may have lost its core.
const CLOSE_TICKS: u64 = 1_000;

/// The value of the counter when the kernel's clock was read.
#[derive(Debug, Clone, Copy)]
struct Anchor {
    ticks: u64,
    ns: u64,
    /// Nanoseconds of a tick, times 2^32; up to 2^36, for a counter of at least 100 MHz.
    rate: u64,
    /// Number of ticks for which the anchor is used, at most 2^27; 0 while the rate is not known.
    trusted: u64,
}

impl Anchor {
    #[inline]
    fn after(&self, ticks: u64) -> u64 {
        self.ns + ((ticks * self.rate) >> 32)
    }
}

thread_local! {
    static ANCHOR: Cell<Anchor> = const {
        Cell::new(Anchor { ticks: 0, ns: 0, rate: 0, trusted: 0 })
    };
}

/// Returns the time of the host's monotonic clock, ns.
#[inline]
pub(super) fn now_ns() -> u64 {
    let anchor = ANCHOR.get();
    let ticks = ticks().wrapping_sub(anchor.ticks);
    if ticks < anchor.trusted {
        anchor.after(ticks)
    } else {
        read_kernel(anchor)
    }
}

#[inline]
fn ticks() -> u64 {
    // SAFETY: every processor of this architecture that Linux runs on has the counter.
    unsafe { _rdtsc() }
}

/// Reads the kernel's clock and makes the reading the new anchor, if possible.
#[cold]
fn read_kernel(last: Anchor) -> u64 {
    // The returned time never goes back.
    let told_ns = last.after(last.trusted);
    let before = ticks();
    let ns = kernel_ns().max(told_ns);
    let between = ticks().wrapping_sub(before);
    if between > CLOSE_TICKS || !*IS_THE_KERNELS {
        return ns;
    }
    let ticks = before + between / 2;
    let (elapsed, elapsed_ns) = (ticks.wrapping_sub(last.ticks), ns - last.ns);
    let mut next = Anchor { ticks, ns, ..last };
    if last.ns > 0 {
        if elapsed_ns < APART_NS {
            return ns;
        }
        let rate = (u128::from(elapsed_ns) << 32) / u128::from(elapsed.max(1));
        let trusted = u128::from(TRUSTED_NS) * u128::from(elapsed) / u128::from(elapsed_ns);
        (next.rate, next.trusted) = match (u64::try_from(rate), u64::try_from(trusted)) {
            (Ok(rate), Ok(trusted)) if rate < 1 << 36 && trusted < 1 << 27 => (rate, trusted),
            // No such counter, or one that was set: the kernel's clock is read each time.
            _ => (0, 0),
        };
    }
    ANCHOR.set(next);
    ns
}

/// Whether the kernel's clock is based on this counter.
static IS_THE_KERNELS: LazyLock<bool> = LazyLock::new(|| {
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    std::fs::read_to_string(source).is_ok_and(|name| name.trim() == "tsc")
});
