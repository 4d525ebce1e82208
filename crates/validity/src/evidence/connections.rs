//! Connections over a stretch of time: how many were requested and open, and how long they waited
//! for the load generator. Those of lost load generators are in [`super::generator`].

use bakeoff_base::number::as_f64;
use bakeoff_model::load::{LoadInterval, MinMax};
use bakeoff_model::validity::RequiredReading;

use super::setting::Setting;
use crate::reading::Reading;
use crate::turns::drain_ns;

/// Counts and times of connections.
#[derive(Debug, Clone)]
pub(crate) struct ConnectionCounts {
    /// Connections that the step requested.
    pub(crate) asked: u32,
    /// Whether users open their connections as they arrive.
    pub(crate) on_arrival: bool,
    /// Requests that all requested connections could have in flight, times the time.
    pub(crate) in_flight_ns: f64,
    /// Connections that were open, times the time.
    pub(crate) open_ns: f64,
    /// How often a connection was opened again.
    pub(crate) reconnects: u64,
    /// Responses of the slowest and the fastest connection over the whole step; `None` before its
    /// last slice, and if they were not counted.
    pub(crate) per_connection: Option<MinMax>,
    /// Time from each response to the next request in its place, summed, ns; for closed loops over
    /// connections that are kept.
    pub(crate) turnaround_ns: Reading<u64>,
    /// Time in which connections were being opened, summed, ns; if any were.
    pub(crate) connecting_ns: Reading<u64>,
}

impl ConnectionCounts {
    /// Returns the connections of a slice.
    pub(super) fn of(setting: &Setting, load: &LoadInterval) -> Self {
        let connections = load.connections;
        Self {
            asked: connections.asked,
            on_arrival: connections.on_arrival,
            in_flight_ns: in_flight_ns(load),
            open_ns: f64::from(connections.established) * as_f64(load.length_ns()),
            reconnects: connections.reconnects,
            per_connection: load.requests_per_connection,
            turnaround_ns: turnaround_ns(setting, load),
            connecting_ns: match connections.reconnects {
                0 if !connections.on_arrival => Reading::NotApplicable,
                _ => setting.due(RequiredReading::Connecting, load.connecting_ns),
            },
        }
    }

    /// Adds the connections of a later stretch of the same step.
    pub(super) fn add(&mut self, other: &Self) {
        let Self {
            asked,
            on_arrival: _,
            in_flight_ns,
            open_ns,
            reconnects,
            per_connection,
            turnaround_ns,
            connecting_ns,
        } = other;
        let sum = |own: &mut u64, other: &u64| *own += other;
        self.asked = self.asked.max(*asked);
        self.in_flight_ns += in_flight_ns;
        self.open_ns += open_ns;
        self.reconnects += reconnects;
        // The last slice of a step has the counts of the whole step.
        self.per_connection = per_connection.or(self.per_connection);
        self.turnaround_ns.add(turnaround_ns, sum);
        self.connecting_ns.add(connecting_ns, sum);
    }
}

/// Returns the number of requests that all requested connections of a slice could have in flight,
/// times the time.
fn in_flight_ns(load: &LoadInterval) -> f64 {
    let connections = load.connections;
    let width = match (connections.in_flight_max, connections.established) {
        (_, 0) => 1.0,
        (in_flight, open) => f64::from(in_flight) / f64::from(open),
    };
    // At the end of a turn requests in flight are awaited, and none are sent.
    let sending_ns = load.length_ns().saturating_sub(drain_ns(load));
    f64::from(connections.asked) * width * as_f64(sending_ns)
}

/// Returns the time from responses to next requests, summed over a slice, ns.
fn turnaround_ns(setting: &Setting, load: &LoadInterval) -> Reading<u64> {
    // Without keep-alive each request has a separate connection, and only connecting comes between
    // a response and the next request.
    match setting.closed_loop && setting.keep_alive {
        true => setting.due(RequiredReading::Turnaround, load.turnaround_ns),
        false => Reading::NotApplicable,
    }
}
