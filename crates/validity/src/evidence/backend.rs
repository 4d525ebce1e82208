//! Readings about the backend over a stretch of time. One backend serves all contenders of a set.

use super::setting::Setting;
use crate::reading::Reading;
use crate::used::{Samples, Used};

/// Readings about the backend.
#[derive(Debug, Clone)]
pub(crate) struct BackendReadings {
    /// CPU time of the backend.
    pub(crate) cpu: Reading<Used>,
    /// Requests that the backend counted; not applicable if the suite does not require any.
    pub(crate) requests: Reading<Counted>,
}

impl BackendReadings {
    /// Returns the readings of a slice, from samples at its start and end.
    pub(super) fn of(setting: &Setting, samples: Option<Samples<'_>>) -> Self {
        let cpu = || Reading::due(samples.and_then(Used::cpu_between));
        Self {
            cpu: setting.backend.then(cpu),
            requests: match setting.work.backend_requests_min {
                None => Reading::NotApplicable,
                Some(_) => requests(samples),
            },
        }
    }

    /// Returns the number of cores that the backend used; 0 if its CPU time was not read.
    pub(crate) fn cores(&self) -> f64 {
        self.cpu.known().map_or(0.0, |used| used.share())
    }

    /// Adds the readings of another stretch of time.
    pub(super) fn add(&mut self, other: &Self) {
        let Self { cpu, requests } = other;
        self.cpu.add(cpu, Used::add);
        self.requests.add(requests, Counted::add);
    }
}

/// Counts between two readings, monotonic ns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Counted {
    /// The count.
    pub count: u64,
    /// The first reading.
    pub from_ns: u64,
    /// The last one.
    pub to_ns: u64,
}

impl Counted {
    /// Adds a slice that follows this one: its first reading is the last one of this slice.
    fn add(&mut self, other: &Self) {
        let Self {
            count,
            from_ns,
            to_ns,
        } = other;
        self.count += count;
        self.from_ns = self.from_ns.min(*from_ns);
        self.to_ns = self.to_ns.max(*to_ns);
    }
}

/// Returns the requests that the backend counted. Not every backend counts them; one that does may
/// fail to report them.
fn requests(samples: Option<Samples<'_>>) -> Reading<Counted> {
    let Some((before, after)) = samples else {
        return Reading::NotMetered;
    };
    match (before.requests, after.requests) {
        (None, None) => Reading::NotMetered,
        (Some(then), Some(now)) => Reading::Known(Counted {
            count: now.saturating_sub(then),
            from_ns: before.at_ns,
            to_ns: after.at_ns,
        }),
        _ => Reading::Unreadable,
    }
}
