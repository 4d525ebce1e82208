//! Time used during a period of time, between two samples of a part's resources.

use bakeoff_base::number::as_f64;
use bakeoff_model::measure::resource::ResourceSample;

/// Samples of a part's resources at the start and at the end of a period.
pub(crate) type Samples<'a> = (&'a ResourceSample, &'a ResourceSample);

/// CPU time used during a period, or another use of time, ns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Used {
    /// Time used.
    pub used_ns: u64,
    /// Length of the period; times the number of threads if only they can use it.
    pub wall_ns: u64,
}

impl Used {
    /// Returns the CPU time between two samples; `None` if it was not read in both, or no time
    /// passed.
    pub(crate) fn cpu_between((before, after): Samples<'_>) -> Option<Self> {
        let (then, now) = (before.cpu?, after.cpu?);
        Some(Self {
            used_ns: now.total_ns().saturating_sub(then.total_ns()),
            wall_ns: wall_ns((before, after))?,
        })
    }

    /// Returns used time divided by passed time: cores, or a share.
    pub(crate) fn share(self) -> f64 {
        as_f64(self.used_ns) / as_f64(self.wall_ns.max(1))
    }

    /// Adds the use during another period.
    pub(crate) fn add(&mut self, other: &Self) {
        let Self { used_ns, wall_ns } = other;
        self.used_ns += used_ns;
        self.wall_ns += wall_ns;
    }
}

/// Returns the time between two samples, ns; `None` if no time passed.
pub(crate) fn wall_ns((before, after): Samples<'_>) -> Option<u64> {
    Some(after.at_ns.saturating_sub(before.at_ns)).filter(|wall_ns| *wall_ns > 0)
}
