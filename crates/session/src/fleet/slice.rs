//! Slices of several load generators added up as if one had counted them. Pure.

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::{LoadInterval, MinMax, RequestInterval, UserCount};

/// Adds what another load generator counted in the same slice of the same step. Times of the slice
/// itself are the caller's business: clocks of machines differ.
pub(super) fn add(sum: &mut LoadInterval, other: LoadInterval) {
    sum.requests += other.requests;
    add_errors(sum, &other);
    sum.service_time.merge(&other.service_time);
    merge(&mut sum.response_time, other.response_time.as_ref());
    merge(&mut sum.send_lag, other.send_lag.as_ref());
    add_some(&mut sum.offered, other.offered);
    sum.censored.merge(&other.censored);
    sum.connections.asked += other.connections.asked;
    sum.connections.established += other.connections.established;
    sum.connections.reconnects += other.connections.reconnects;
    if let Some(places) = other.connections.in_flight_max {
        *sum.connections.in_flight_max.get_or_insert(0) += places;
    }
    sum.sent_bytes += other.sent_bytes;
    sum.received_bytes += other.received_bytes;
    add_some(&mut sum.turnaround_ns, other.turnaround_ns);
    add_some(&mut sum.connecting_ns, other.connecting_ns);
    sum.generator_cpu.user_ns += other.generator_cpu.user_ns;
    sum.generator_cpu.system_ns += other.generator_cpu.system_ns;
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

fn add_errors(sum: &mut LoadInterval, other: &LoadInterval) {
    for (class, error) in &other.errors {
        let own = sum.errors.entry(*class).or_default();
        own.count += error.count;
        own.time_ns_sum += error.time_ns_sum;
        for (message, count) in &error.messages {
            own.add_message(message, *count);
        }
        if own.example.is_none() {
            own.example.clone_from(&error.example);
        }
    }
}

/// All load generators have the same requests in the same order.
fn add_request(own: &mut RequestInterval, other: &RequestInterval) {
    own.requests += other.requests;
    own.failures += other.failures;
    own.times.merge(&other.times);
}

fn merge(into: &mut Option<Histogram>, from: Option<&Histogram>) {
    if let Some(from) = from {
        into.get_or_insert_default().merge(from);
    }
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
