//! The load spec of a run. Pure.

use std::net::SocketAddr;
use std::time::Duration;

use bakeoff_model::duration_ns;
use bakeoff_model::load::{LoadSpec, ReactorChoice, RequestSpec, StepSpec, Target};
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::Cores;
use bakeoff_model::scenario::Scenario;

/// The documents' own bound on connecting and on a response.
const TIMEOUT: Duration = Duration::from_secs(15);
/// One response in this many is checked whole; status and length are checked on every one.
const CHECK_BODY_EVERY: u32 = 64;

/// Everything that the load spec depends on.
#[derive(Debug)]
pub struct SpecInput<'a> {
    /// Where the contender listens.
    pub address: SocketAddr,
    /// What requests name in `Host`; the address when absent.
    pub host: Option<&'a str>,
    /// What it is asked.
    pub requests: &'a [RequestSpec],
    /// Makes the requests a scenario.
    pub scenario: Option<&'a Scenario>,
    /// The steps, how often each is played, and how the requests travel.
    pub run: &'a PlannedRun,
    /// Which cores each part may use.
    pub cores: &'a Cores,
    /// Length of a recorded slice.
    pub slice: Duration,
    /// Seed of random choices.
    pub seed: u64,
}

/// The load spec.
#[must_use]
pub fn load_spec(input: &SpecInput<'_>) -> LoadSpec {
    let transport = input.run.transport;
    LoadSpec {
        target: Target {
            address: input.address.to_string(),
            host: input.host.map(str::to_owned),
            tls: false,
            insecure: false,
            unix_socket: None,
            protocol: transport.protocol,
            cpu_counter: None,
        },
        requests: input.requests.to_vec(),
        scenario: input.scenario.cloned(),
        steps: steps(input.run, input.slice),
        threads: input.cores.generator.len().max(1),
        cores: input.cores.generator.clone(),
        timeout_connect_ns: duration_ns::whole(TIMEOUT),
        timeout_answer_ns: duration_ns::whole(TIMEOUT),
        slice_ns: duration_ns::whole(input.slice),
        seed: input.seed,
        check_body_every: CHECK_BODY_EVERY,
        stepwise: true,
        reactor: ReactorChoice::Auto,
        keep_alive_off: !transport.keep_alive,
        in_flight: transport.in_flight,
        part: None,
        further_targets: Vec::new(),
    }
}

/// The steps as they are played. In a carousel a contender has no connections while it is frozen.
/// A warm-up that ends when the contender is warm is a step of one block, which is played again.
fn steps(run: &PlannedRun, slice: Duration) -> Vec<StepSpec> {
    let played = run.played();
    let steps = played.iter().enumerate().map(|(index, one)| {
        let step = &run.steps[one.step];
        let next = played.get(index + 1);
        StepSpec {
            connections: step.connections,
            duration_ns: duration_ns::whole(step.block(slice)),
            pace: step.pace,
            warm_up: step.warm_up,
            requests_max: 0,
            close_after: run.carousel.is_some() && next.is_none_or(|next| next.cycle != one.cycle),
            ..StepSpec::default()
        }
    });
    steps.collect()
}
