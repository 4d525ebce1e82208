//! What the law of the closed loop says about a number: all that can be in flight is either with
//! the service or with us. Pure.

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::Connections;
use bakeoff_stats::queueing::little_residual;

/// Little's law must close within this share: requests in flight = rate x time of a cycle.
const LITTLE_MAX: f64 = 0.15;
/// Share of a cycle with the loader above which the rate is too much its own.
const TURNAROUND_MAX: f64 = 0.25;
/// Requests per place below which the edges of the time matter.
const REQUESTS_MIN: u64 = 50;

/// Figures of a closed load in which no request failed.
#[derive(Debug)]
pub struct ClosedLoop<'a> {
    /// Asked for and established.
    pub connections: Connections,
    /// Successful requests.
    pub requests: u64,
    /// How long it lasted, ns.
    pub wall_ns: f64,
    /// Times of the successful requests.
    pub service_time: &'a Histogram,
    /// From answers to the next requests in their place, summed.
    pub turnaround_ns: u64,
}

impl ClosedLoop<'_> {
    /// Evidence that some of what can be in flight was neither with the service nor with us.
    pub fn idle(&self) -> Option<String> {
        let (service_ns, turnaround_ns) = self.cycle_ns()?;
        let rate_per_s = as_f64(self.requests) / self.wall_ns * 1e9;
        let cycle_s = (service_ns + turnaround_ns) / 1e9;
        let places = f64::from(self.connections.places());
        little_residual(places, rate_per_s, cycle_s)
            .filter(|residual| residual.abs() > LITTLE_MAX)
            .map(|residual| format!("Little's law is off by {:.0} %", residual * 100.0))
    }

    /// Evidence that the rate is too much the loader's own: that it kept the service waiting.
    pub fn held_up(&self) -> Option<String> {
        let (service_ns, turnaround_ns) = self.cycle_ns()?;
        let share = turnaround_ns / (service_ns + turnaround_ns);
        (share > TURNAROUND_MAX).then(|| {
            format!(
                "{:.0} % of each cycle passed in the loader, between an answer and the next \
                 request",
                share * 100.0
            )
        })
    }

    /// Mean times of a cycle with the service and with us. `None` where too few requests ended,
    /// and where connections are made anew as a rule: then some are always being opened.
    fn cycle_ns(&self) -> Option<(f64, f64)> {
        let places = u64::from(self.connections.places());
        if self.requests < REQUESTS_MIN * places || is_churning(self.connections, self.requests) {
            return None;
        }
        let turnaround_ns = as_f64(self.turnaround_ns) / as_f64(self.requests);
        Some((self.service_time.mean_ns()?, turnaround_ns))
    }
}

/// Whether the service closes connections as a rule: its own way of working, the cost of which is
/// in its throughput.
pub(super) fn is_churning(connections: Connections, requests: u64) -> bool {
    connections.reconnects > requests / 2
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts and times of a load stay below 2^53"
)]
fn as_f64(count: u64) -> f64 {
    count as f64
}
