//! The loader's order for a run. Pure.

use std::net::SocketAddr;
use std::time::Duration;

use bakeoff_model::load::{LoadSpec, ReactorChoice, RequestSpec, StepSpec, Target};
use bakeoff_model::record::Cores;
use bakeoff_model::scenario::Scenario;
use bakeoff_model::suite::Step;
use bakeoff_model::transport::Transport;

/// The documents' own bound on connecting and on an answer.
const TIMEOUT: Duration = Duration::from_secs(15);
/// One answer in this many is checked whole; status and length are checked on every one.
const CHECK_BODY_EVERY: u32 = 64;

/// Everything that the order depends on.
#[derive(Debug)]
pub(crate) struct OrderInput<'a> {
    pub(crate) address: SocketAddr,
    pub(crate) requests: &'a [RequestSpec],
    pub(crate) scenario: Option<&'a Scenario>,
    pub(crate) steps: &'a [Step],
    pub(crate) transport: Transport,
    pub(crate) cores: &'a Cores,
    pub(crate) slice: Duration,
    pub(crate) seed: u64,
}

/// The order.
pub(crate) fn order(input: &OrderInput<'_>) -> LoadSpec {
    let steps = input
        .steps
        .iter()
        .map(|step| StepSpec {
            connections: step.connections,
            duration_ns: nanoseconds(step.duration),
            pace: step.pace,
            warm_up: step.warm_up,
            requests_max: 0,
        })
        .collect();
    LoadSpec {
        target: Target {
            address: input.address.to_string(),
            host: None,
            tls: false,
            insecure: false,
            unix_socket: None,
            protocol: input.transport.protocol,
        },
        requests: input.requests.to_vec(),
        scenario: input.scenario.cloned(),
        steps,
        threads: input.cores.loader.len().max(1),
        cores: input.cores.loader.clone(),
        timeout_connect_ns: nanoseconds(TIMEOUT),
        timeout_answer_ns: nanoseconds(TIMEOUT),
        slice_ns: nanoseconds(input.slice),
        seed: input.seed,
        check_body_every: CHECK_BODY_EVERY,
        stepwise: true,
        reactor: ReactorChoice::Auto,
        keep_alive_off: !input.transport.keep_alive,
        in_flight: input.transport.in_flight,
    }
}

/// Durations of a suite are seconds to minutes; five centuries do not fit, and need not.
fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
