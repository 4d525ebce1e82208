//! Little's law (Operations Research 9, 1961) over a stretch of closed load: all requests that
//! can be in flight are with the service, being connected for, or between two requests with us.
//!
//! The law is used in its exact form, as sums of times, so that failed requests count with their
//! time and few requests need no exemption. A step starts with nothing in flight and ends with
//! requests in flight whose ages are recorded (`censored`).

use bakeoff_base::number::as_f64;
use bakeoff_model::load::ErrorClass;

use crate::evidence::Evidence;
use crate::reading::Reading;

/// Numbers of requests in flight: in the service, and in the load generator.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Concurrency {
    /// The requested number.
    pub(crate) asked: f64,
    /// Requests with the service, or waiting for a connection to it.
    pub(crate) effective: f64,
    /// Between a response and the next request, if known.
    pub(crate) turnaround: Option<f64>,
}

/// Returns the concurrency of a closed loop; `None` for other loads.
pub(crate) fn concurrency(evidence: &Evidence) -> Option<Concurrency> {
    if !evidence.setting.closed_loop || evidence.stretch.wall_ns == 0 {
        return None;
    }
    let wall_ns = as_f64(evidence.stretch.wall_ns);
    let (requests, connections) = (&evidence.requests, &evidence.connections);
    let errors_ns = requests.errors.values().map(|error| error.time_ns_sum);
    let errors_ns: u64 = errors_ns.sum();
    let connecting_ns = connections.connecting_ns.known().copied().unwrap_or(0);
    let with_service_ns = requests.service_time.mean_ns() * as_f64(requests.successful)
        + as_f64(errors_ns)
        + as_f64(connecting_ns)
        + unfinished_ns(evidence);
    let asked = connections.in_flight_ns / wall_ns;
    // A missing time to connect does not matter if there were no connections to open.
    let known = match (&connections.turnaround_ns, &connections.connecting_ns) {
        (_, Reading::NotRecorded | Reading::Unreadable) => None,
        (Reading::Known(turnaround_ns), _) => Some(as_f64(*turnaround_ns)),
        (Reading::NotApplicable, _) => Some(0.0),
        _ => None,
    };
    Some(Concurrency {
        asked,
        effective: (with_service_ns / wall_ns).min(asked),
        turnaround: known.map(|turnaround_ns| turnaround_ns / wall_ns),
    })
}

/// Returns the time for which requests without a response had been in flight. A request that is
/// older than any with a response counts as old as that: the rest of the time it starved. If the
/// stretch is not the end of a step, nothing is recorded about such requests, and up to one mean
/// time of each is granted.
fn unfinished_ns(evidence: &Evidence) -> f64 {
    let requests = &evidence.requests;
    let longest_ns = requests.service_time.longest_ns();
    let timed_out = [ErrorClass::HeaderTimeout, ErrorClass::BodyTimeout];
    let timed_out: u64 = timed_out.map(|class| requests.count(class)).iter().sum();
    // Timed-out requests are among the ages, and the oldest of them: they are counted as errors.
    let ages = requests.censored.values();
    let mut left = ages.sum::<u64>().saturating_sub(timed_out);
    if left == 0 {
        let wall_ns = as_f64(evidence.stretch.wall_ns.max(1));
        return evidence.connections.in_flight_ns / wall_ns * requests.service_time.mean_ns();
    }
    let mut sum_ns = 0.0;
    for (age_ns, count) in &requests.censored {
        let count = (*count).min(left);
        sum_ns += as_f64((*age_ns).min(longest_ns)) * as_f64(count);
        left -= count;
    }
    sum_ns
}
