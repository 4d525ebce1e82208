//! Causes other than the service for a failed trial in a search for a capacity.

use bakeoff_base::number::as_f64;
use bakeoff_model::load::LoadInterval;
use bakeoff_model::load::histogram::HIGHEST_NS;
use bakeoff_model::validity::{FairnessVerdict, Finding, Reason};

use crate::judge::{JudgedSlice, StepJudge};

/// Share of the time from which on connections count as fully used.
const HELD_MIN: f64 = 0.5;

/// Returns why the failure of a stretch of open load may not be the service's: the load generator,
/// the backend or the host was a bottleneck in it. `None` if there is no such reason.
///
/// Requests that wait for a connection have a send lag, too. If requests held all connections, the
/// service was late.
#[must_use]
pub fn disturbance(slices: &[(JudgedSlice, &LoadInterval)]) -> Option<String> {
    let mut step = StepJudge::default();
    slices.iter().for_each(|(judged, _)| step.add(judged));
    let validity = step.validity();
    let speaks = |reason: &&Reason| match &reason.finding {
        Finding::GeneratorErrors { .. } | Finding::GeneratorLost { .. } => true,
        Finding::SendLag { lag_p99_ns, .. } => !are_held(slices, *lag_p99_ns),
        // Part of the time may be generator-bound because of its send lag, which was checked above.
        Finding::PartOfTime { .. } => {
            matches!(
                reason.verdict,
                FairnessVerdict::HostBound | FairnessVerdict::BackendBound
            )
        }
        _ => reason.verdict.is_bound(),
    };
    let reason = validity.reasons().iter().find(speaks)?;
    Some(format!("{}: {}", reason.verdict, reason.finding))
}

/// Whether requests that were sent so late waited for connections: they were in use for most of the
/// time, or all of them were for at least half that lag.
fn are_held(slices: &[(JudgedSlice, &LoadInterval)], lag_ns: u64) -> bool {
    let (mut held_ns, mut all_ns, mut long, mut places) = (0.0, 0.0, 0, 0);
    for (_, load) in slices {
        let of_slice = u64::from(load.connections.in_flight_max);
        let times = [&load.service_time, &load.censored];
        for times in times {
            held_ns += times.mean_ns().unwrap_or(0.0) * as_f64(times.count());
            long += times.count_between(lag_ns / 2, HIGHEST_NS);
        }
        all_ns += as_f64(of_slice) * as_f64(load.length_ns());
        places = places.max(of_slice);
    }
    held_ns >= HELD_MIN * all_ns || long >= places
}
