//! Converts tallies to the format of files.

use std::collections::BTreeMap;

use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::{
    Connections, CpuTime, LoadInterval, LoadSpec, Pace, Protocol, RequestInterval, RequestSpec,
    StepSpec, UserCount,
};

use crate::tally::{RequestTally, Tally};

/// Returns the connections of a step that are in this part of the load.
pub(crate) fn own_connections(spec: &LoadSpec, step: usize) -> u32 {
    spec.own_part().connections_of(spec.steps[step].connections)
}

/// Converts times to the format of files. Times in turns are those of bursts: only their sum is
/// used.
fn stated(times: Histogram, step: &StepSpec) -> Histogram {
    match step.turns {
        None => times,
        Some(_) => times.coarse(),
    }
}

fn by_request(
    spec: &LoadSpec,
    parts: Vec<RequestTally>,
    times: impl Fn(Histogram) -> Histogram,
) -> Vec<RequestInterval> {
    let names = spec.requests.iter().map(RequestSpec::label);
    let both = names.zip(parts);
    both.map(|(name, part)| RequestInterval {
        name,
        requests: part.requests,
        failures: part.failures,
        times: times(part.times),
        failed_times: part.failed_times.map(&times),
    })
    .collect()
}

/// Converts a slice to the format of files. `own` is the coordinator's CPU time, which is part of
/// the load generator's.
pub(crate) fn interval(
    spec: &LoadSpec,
    step: usize,
    tally: Tally,
    threads: usize,
    own: CpuTime,
) -> LoadInterval {
    let step_spec = &spec.steps[step];
    let users = spec.scenario.is_some();
    let open_load = !matches!(step_spec.pace, Pace::Closed | Pace::Users { .. });
    let closed_load = step_spec.pace == Pace::Closed;
    // A request whose variables a feed fills is intended when it is sent, as any of closed load.
    let intended = open_load || users && !(closed_load && spec.is_single_request());
    // Responses that end a connection have no next request in their slot, and the time of messages
    // that carry their own does not start with a request.
    let is_loop = match spec.target.protocol {
        Protocol::Websocket(websocket) => websocket.timestamp.is_none(),
        _ => !spec.keep_alive_off,
    };
    // Response times in turns are those of bursts.
    let first_byte = tally.first_byte().filter(|_| step_spec.turns.is_none());
    let mut unanswered = BTreeMap::new();
    for (request, count) in tally.unanswered {
        let name = spec.requests[request].label();
        *unanswered.entry(name).or_default() += count;
    }
    let mut generator_cpu = tally.cpu;
    generator_cpu += own;
    let times = |times: Histogram| stated(times, step_spec);
    let mut errors = tally.errors;
    for error in errors.values_mut() {
        error.times = error.times.take().map(times);
    }
    LoadInterval {
        step,
        slice: tally.slice,
        start_ns: tally.start_ns,
        end_ns: tally.end_ns,
        requests: tally.requests,
        errors,
        first_byte,
        service_time: times(tally.service_time),
        response_time: intended.then(|| times(tally.response_time)),
        send_lag: intended.then_some(tally.send_lag),
        offered: open_load.then_some(tally.offered),
        censored: tally.censored,
        connections: Connections {
            asked: own_connections(spec, step),
            established: tally.established,
            in_flight_max: tally.in_flight_max,
            reconnects: tally.reconnects,
            on_arrival: spec.connects_on_arrival(),
        },
        redirects: tally.redirects,
        sent_bytes: tally.sent_bytes,
        received_bytes: tally.received_bytes,
        turnaround_ns: (is_loop && closed_load && !spec.has_think_time())
            .then_some(tally.turnaround_ns),
        connecting_ns: Some(tally.connecting_ns),
        generator_cpu,
        generator_threads: threads.min(own_connections(spec, step) as usize),
        by_request: by_request(spec, tally.by_request, times),
        unanswered,
        users: users.then_some(UserCount {
            finished: tally.users_finished,
            gave_up: tally.users_gave_up,
        }),
        requests_per_connection: tally.per_connection,
        lost: Vec::new(),
        side: tally.side,
        turns: {
            let turns = tally.turns.iter();
            turns.map(|turn| turn.count(tally.start_ns)).collect()
        },
    }
}
