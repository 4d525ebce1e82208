//! Sums of a histogram of times: cheap to add up over thousands of slices.

use bakeoff_model::load::histogram::Histogram;

use bakeoff_base::number::as_f64;

/// A wait with a known length that the kernel's TCP causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    /// Linux delays an acknowledgement by 40 ms (`TCP_DELACK_MIN`).
    DelayedAcknowledgement,
    /// Linux retransmits lost segments after at least 200 ms (`TCP_RTO_MIN`).
    Retransmission,
}

impl Wait {
    const ALL: [Self; 2] = [Self::DelayedAcknowledgement, Self::Retransmission];

    /// Returns start and end of the wait, ns; the end is exclusive.
    fn span_ns(self) -> (u64, u64) {
        match self {
            Self::DelayedAcknowledgement => (39_000_000, 46_000_000),
            Self::Retransmission => (198_000_000, 216_000_000),
        }
    }
}

/// How much more crowded a wait must be than its surroundings of the same width.
const CROWD_MIN: f64 = 4.0;

/// Times within a wait, and in equally long spans before and after it.
#[derive(Debug, Clone, Copy, Default)]
struct Crowd {
    before: u64,
    within: u64,
    after: u64,
}

/// Sums of times.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Times {
    count: u64,
    sum_ns: f64,
    longest_ns: u64,
    crowds: [Crowd; 2],
}

impl Times {
    /// Returns the sums of a histogram, at its resolution.
    pub(crate) fn of(histogram: &Histogram) -> Self {
        let mut times = Self::default();
        for (time_ns, count) in histogram.buckets() {
            times.count += count;
            times.sum_ns += as_f64(time_ns) * as_f64(count);
            times.longest_ns = times.longest_ns.max(time_ns);
            for (crowd, wait) in times.crowds.iter_mut().zip(Wait::ALL) {
                crowd.count(wait, time_ns, count);
            }
        }
        times
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.sum_ns += other.sum_ns;
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        for (crowd, other) in self.crowds.iter_mut().zip(other.crowds) {
            crowd.before += other.before;
            crowd.within += other.within;
            crowd.after += other.after;
        }
    }

    /// Returns the mean, ns; 0 without times.
    pub(crate) fn mean_ns(&self) -> f64 {
        self.sum_ns / as_f64(self.count.max(1))
    }

    /// Returns the longest time, ns; 0 without times.
    pub(crate) fn longest_ns(&self) -> u64 {
        self.longest_ns
    }

    /// Returns the share of the times that gather in a wait; `None` if its surroundings are as
    /// crowded.
    pub(crate) fn gathered(&self, wait: Wait) -> Option<f64> {
        let (crowd, _) = self
            .crowds
            .iter()
            .zip(Wait::ALL)
            .find(|(_, known)| *known == wait)?;
        let around = as_f64(crowd.before.max(crowd.after).max(1));
        let crowded = as_f64(crowd.within) >= CROWD_MIN * around;
        crowded.then(|| as_f64(crowd.within) / as_f64(self.count.max(1)))
    }
}

impl Crowd {
    fn count(&mut self, wait: Wait, time_ns: u64, count: u64) {
        let (from_ns, to_ns) = wait.span_ns();
        let width_ns = to_ns - from_ns;
        match time_ns {
            early if early < from_ns - width_ns => {}
            before if before < from_ns => self.before += count,
            within if within < to_ns => self.within += count,
            after if after < to_ns + width_ns => self.after += count,
            _ => {}
        }
    }
}
