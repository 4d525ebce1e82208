//! The CPU time of targets, read at the ends of turns.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use bakeoff_model::load::CpuCounter;

/// Longest text of a counter: the first line of `cpu.stat` is far shorter.
const TEXT_MAX: usize = 128;

/// Reads the CPU time of one target.
#[derive(Debug)]
pub(crate) enum Counter {
    /// A file of a control group.
    File(File),
    /// Clocks of processes.
    Processes(Vec<u32>),
    /// The CPU time cannot be read.
    None,
}

impl Counter {
    /// Opens a counter; one that cannot be opened reads nothing.
    pub(crate) fn open(counter: Option<&CpuCounter>) -> Self {
        match counter {
            Some(CpuCounter::File(path)) => File::open(path).map_or(Self::None, Self::File),
            Some(CpuCounter::Processes(processes)) => Self::Processes(processes.clone()),
            None => Self::None,
        }
    }

    /// Returns the CPU time up to now, ns; `None` if it cannot be read.
    pub(crate) fn read_ns(&self) -> Option<u64> {
        match self {
            Self::File(file) => {
                let mut text = [0; TEXT_MAX];
                let length = file.read_at(&mut text, 0).ok()?;
                parse(std::str::from_utf8(&text[..length]).ok()?)
            }
            Self::Processes(processes) => processes.iter().copied().map(process_ns).sum(),
            Self::None => None,
        }
    }
}

/// Reads the number of `cpuacct.usage`, or `usage_usec` of `cpu.stat`, ns.
fn parse(text: &str) -> Option<u64> {
    let first = text.lines().next()?;
    match first.strip_prefix("usage_usec ") {
        Some(us) => us.trim().parse::<u64>().ok()?.checked_mul(1000),
        None => first.trim().parse().ok(),
    }
}

/// Numbers of processes are below this, so that there is room for the kind of clock (man 5
/// proc_sys_kernel, `pid_max`).
const PROCESSES: libc::clockid_t = 1 << 22;

/// Returns the CPU time of all threads of a process, including exited ones, ns.
fn process_ns(process: u32) -> Option<u64> {
    // man 2 clock_getres: the clock of a process is its complement, shifted, and the kind of clock,
    // 2 for scheduler time, in the lower bits.
    let process = libc::clockid_t::try_from(process)
        .ok()
        .filter(|number| *number < PROCESSES)?;
    let clock = (!process << 3) | 2;
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    #[expect(
        unsafe_code,
        reason = "rustix does not read the clock of another process"
    )]
    // SAFETY: the pointer is to a timespec of this frame, which the call fills.
    let status = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if status != 0 {
        return None;
    }
    let seconds = u64::try_from(time.tv_sec).ok()?;
    Some(seconds * 1_000_000_000 + u64::try_from(time.tv_nsec).ok()?)
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::CpuCounter;

    use super::{Counter, parse};

    #[test]
    fn counters_of_both_hierarchies_are_read() {
        assert_eq!(parse("31337\n"), Some(31337));
        let stat = "usage_usec 12\nuser_usec 5\n";
        assert_eq!(parse(stat), Some(12_000));
        assert_eq!(parse("user_usec 5\n"), None);
        assert_eq!(parse(""), None);
    }

    #[test]
    fn the_clock_of_a_process_goes_on() {
        let own = CpuCounter::Processes(vec![std::process::id()]);
        let counter = Counter::open(Some(&own));
        let before = counter.read_ns().unwrap();
        let mut sum = 0u64;
        while counter.read_ns().unwrap() == before {
            sum = std::hint::black_box(sum + 1);
        }
        let gone = CpuCounter::Processes(vec![u32::MAX >> 1]);
        assert_eq!(Counter::open(Some(&gone)).read_ns(), None);
        assert_eq!(Counter::open(None).read_ns(), None);
    }
}
