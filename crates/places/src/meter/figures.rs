//! Parses metrics from the text of the kernel's files. Pure.

use bakeoff_model::load::CpuTime;
use bakeoff_model::measure::resource::Network;

/// CPU time as a cgroup gives it: an exact total, and a split into user and system that version 1
/// only samples at its ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawCpu {
    /// Exact, ns.
    pub(crate) total_ns: u64,
    /// Estimated, any unit: only the ratio counts.
    pub(crate) user: u64,
    /// Estimated, any unit: only the ratio counts.
    pub(crate) system: u64,
}

/// Splits the exact total in the estimated ratio so that neither part ever steps back: what the
/// kernel itself does for the times of a process (`cputime_adjust`).
pub(crate) fn monotone(raw: RawCpu, last: CpuTime) -> CpuTime {
    let total = raw.total_ns.max(last.total_ns());
    let parts = u128::from(raw.user) + u128::from(raw.system);
    let scaled = (u128::from(total) * u128::from(raw.user)).checked_div(parts);
    // Without a tick yet there is no estimate: most of a start is user time.
    let user = scaled
        .and_then(|user| u64::try_from(user).ok())
        .unwrap_or(total);
    let user_ns = user.clamp(last.user_ns, total - last.system_ns);
    CpuTime {
        user_ns,
        system_ns: total - user_ns,
    }
}

/// A counter that never steps back, for sums over processes that come and go.
pub(crate) fn not_before(now: CpuTime, last: CpuTime) -> CpuTime {
    CpuTime {
        user_ns: now.user_ns.max(last.user_ns),
        system_ns: now.system_ns.max(last.system_ns),
    }
}

/// The number behind a key in a file of `key number` lines.
pub(crate) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once(' ')?;
        if name == key {
            value.trim().parse().ok()
        } else {
            None
        }
    })
}

/// The stall time in the `some` line of a pressure file, us.
pub(crate) fn pressure_us(text: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split(' ')
        .find_map(|word| word.strip_prefix("total="))?
        .parse()
        .ok()
}

/// Sums `/proc/PID/net/dev` over all interfaces but the loopback.
pub(crate) fn network(text: &str) -> Network {
    let mut sum = Network::default();
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else {
            continue;
        };
        if name.trim() == "lo" {
            continue;
        }
        let numbers: Vec<u64> = rest
            .split_whitespace()
            .map(|word| word.parse().unwrap_or(0))
            .collect();
        sum.received_bytes += numbers.first().copied().unwrap_or(0);
        sum.sent_bytes += numbers.get(8).copied().unwrap_or(0);
    }
    sum
}

#[cfg(test)]
mod tests {
    use bakeoff_model::load::CpuTime;

    use super::{RawCpu, keyed, monotone, network, pressure_us};

    #[test]
    fn the_split_keeps_the_total_and_never_steps_back() {
        let check = |total_ns, user, system, last: (u64, u64), expect: (u64, u64)| {
            let raw = RawCpu {
                total_ns,
                user,
                system,
            };
            let last = CpuTime {
                user_ns: last.0,
                system_ns: last.1,
            };
            let expect = CpuTime {
                user_ns: expect.0,
                system_ns: expect.1,
            };
            assert_eq!(monotone(raw, last), expect);
        };
        check(100, 3, 1, (0, 0), (75, 25));
        check(100, 0, 0, (0, 0), (100, 0));
        check(110, 1, 1, (75, 25), (75, 35));
        check(110, 9, 1, (40, 60), (50, 60));
        check(90, 1, 1, (75, 25), (75, 25));
        check(
            u64::MAX,
            u64::MAX,
            u64::MAX,
            (0, 0),
            (u64::MAX / 2, u64::MAX / 2 + 1),
        );
    }

    #[test]
    fn the_kernels_texts_are_read() {
        assert_eq!(
            keyed("nr_periods 5\nthrottled_time 77\n", "throttled_time"),
            Some(77)
        );
        assert_eq!(keyed("nr_periods x\n", "nr_periods"), None);
        assert_eq!(
            pressure_us("some avg10=0.00 avg60=0.00 total=42\nfull total=1\n"),
            Some(42)
        );
        let dev = "Inter-|   Receive\n face |bytes\n    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n\
                   eth0: 100 1 0 0 0 0 0 0 200 1 0 0 0 0 0 0\n";
        let sum = network(dev);
        assert_eq!((sum.received_bytes, sum.sent_bytes), (100, 200));
    }
}
