//! Slices of several load generators added up as if one had counted them. Pure.

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{LoadInterval, MinMax, RequestInterval, UserCount};

/// Adds what another load generator counted in the same slice of the same step. Times of the slice
/// itself are the caller's business: clocks of machines differ.
pub(super) fn add(sum: &mut LoadInterval, other: LoadInterval) {
    sum.requests += other.requests;
    for (class, error) in &other.errors {
        sum.errors.entry(*class).or_default().add(error);
    }
    if sum.first_byte.is_some() || other.first_byte.is_some() {
        let mut first_byte = sum.first_byte_times().clone();
        first_byte.merge(other.first_byte_times());
        sum.first_byte = Some(first_byte);
    }
    sum.service_time.merge(&other.service_time);
    Histogram::merge_some(&mut sum.response_time, other.response_time.as_ref());
    Histogram::merge_some(&mut sum.send_lag, other.send_lag.as_ref());
    add_some(&mut sum.offered, other.offered);
    sum.censored.merge(&other.censored);
    sum.connections.asked += other.connections.asked;
    sum.connections.established += other.connections.established;
    sum.connections.reconnects += other.connections.reconnects;
    sum.connections.in_flight_max += other.connections.in_flight_max;
    sum.redirects += other.redirects;
    sum.sent_bytes += other.sent_bytes;
    sum.received_bytes += other.received_bytes;
    add_some(&mut sum.turnaround_ns, other.turnaround_ns);
    add_some(&mut sum.connecting_ns, other.connecting_ns);
    sum.generator_cpu += other.generator_cpu;
    sum.generator_threads += other.generator_threads;
    for (own, other) in sum.by_request.iter_mut().zip(&other.by_request) {
        add_request(own, other);
    }
    for (name, count) in other.unanswered {
        *sum.unanswered.entry(name).or_default() += count;
    }
    if let Some(UserCount { finished, gave_up }) = other.users {
        let users = sum.users.get_or_insert_default();
        users.finished += finished;
        users.gave_up += gave_up;
    }
    sum.requests_per_connection =
        widest(sum.requests_per_connection, other.requests_per_connection);
}

/// All load generators have the same requests in the same order.
fn add_request(own: &mut RequestInterval, other: &RequestInterval) {
    own.requests += other.requests;
    own.failures += other.failures;
    own.times.merge(&other.times);
    Histogram::merge_some(&mut own.failed_times, other.failed_times.as_ref());
}

fn add_some(into: &mut Option<u64>, from: Option<u64>) {
    if let Some(from) = from {
        *into.get_or_insert(0) += from;
    }
}

fn widest(one: Option<MinMax>, other: Option<MinMax>) -> Option<MinMax> {
    match (one, other) {
        (Some(one), Some(other)) => Some(MinMax {
            min: one.min.min(other.min),
            max: one.max.max(other.max),
        }),
        (one, other) => one.or(other),
    }
}
