//! The engine's clock and its own cost: `CLOCK_MONOTONIC`, and the CPU time of the calling thread.
//!
//! No reading of the clock is a system call: the kernel's is read through the vDSO, and between two
//! of its readings the processor's counter gives the time, if available.

#![expect(unsafe_code, reason = "getrusage of one thread is in no safe wrapper")]

#[cfg(target_arch = "x86_64")]
mod counter;

use bakeoff_model::load::CpuTime;

/// Returns the time of the host's monotonic clock, ns.
#[inline]
pub(crate) fn now_ns() -> u64 {
    #[cfg(test)]
    if let Some(now_ns) = simulated::now_ns() {
        return now_ns;
    }
    #[cfg(target_arch = "x86_64")]
    return counter::now_ns();
    #[cfg(not(target_arch = "x86_64"))]
    return kernel_ns();
}

/// Returns the time of the kernel's monotonic clock, ns.
fn kernel_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    // Neither part of a monotonic reading is ever negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Returns the time since the Unix epoch by the host's clock, ns, for timestamps of services and
/// for instants that several machines share.
#[inline]
#[must_use]
pub fn wall_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Realtime);
    // A host whose clock stands before 1970 has no timestamps to compare with.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

/// Returns how far the host's clock is ahead of the monotonic one, ns. The thread may lose its core
/// between two readings: the closest of a few pairs counts.
#[must_use]
pub fn wall_ahead_ns() -> u64 {
    let pair = |_| {
        let before_ns = now_ns();
        let wall_ns = wall_ns();
        let after_ns = now_ns();
        (after_ns - before_ns, wall_ns.saturating_sub(after_ns))
    };
    (0..3).map(pair).min().map_or(0, |(_, ahead_ns)| ahead_ns)
}

/// Returns the CPU time that the calling thread has used so far.
pub(crate) fn thread_cpu() -> CpuTime {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to writable memory of the right type, and an all-zero `rusage` is a
    // valid one, so that it may be read even if the call failed.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr());
        usage.assume_init()
    };
    let nanoseconds = |time: libc::timeval| {
        time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_usec.cast_unsigned() * 1_000
    };
    CpuTime {
        user_ns: nanoseconds(usage.ru_utime),
        system_ns: nanoseconds(usage.ru_stime),
    }
}

/// Returns the CPU time between two readings of [`thread_cpu`].
pub(crate) fn cpu_between(before: CpuTime, after: CpuTime) -> CpuTime {
    CpuTime {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
    }
}

#[cfg(test)]
mod tests {
    use super::{kernel_ns, now_ns};

    #[test]
    fn the_clock_is_the_kernels_and_never_goes_back() {
        // Maximum error of the counter until the kernel's clock is read again.
        const OFF_NS: u64 = 5_000;
        let (begin_ns, mut last_ns) = (kernel_ns(), 0);
        while last_ns < begin_ns + 200_000_000 {
            let before_ns = kernel_ns();
            let now_ns = now_ns();
            let after_ns = kernel_ns();
            assert!(now_ns >= last_ns, "{now_ns} after {last_ns}");
            assert!(now_ns + OFF_NS >= before_ns, "{now_ns} at {before_ns}");
            assert!(now_ns <= after_ns + OFF_NS, "{now_ns} at {after_ns}");
            last_ns = now_ns;
        }
    }
}

/// A clock that a test moves manually, for one thread.
#[cfg(test)]
pub(crate) mod simulated {
    use std::cell::Cell;

    thread_local! {
        static NOW_NS: Cell<Option<u64>> = const { Cell::new(None) };
    }

    /// Returns the simulated time; `None` if the thread uses the real one.
    pub(crate) fn now_ns() -> Option<u64> {
        NOW_NS.get()
    }

    /// Moves the clock; the first call takes the thread out of the real time.
    pub(crate) fn set_ns(now_ns: u64) {
        NOW_NS.set(Some(now_ns));
    }
}
