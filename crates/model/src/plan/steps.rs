//! The steps of a planned run, and how long it takes with all that comes before and after them.

use std::time::Duration;

use bakeoff_base::random::Random;

use super::{PlannedRun, RunKind};
use crate::load::{Pace, Protocol, RequestSpec};
use crate::request::scenario::Connect;
use crate::suite::{Benchmark, BenchmarkKind, Profile, Step, StepOrder};

/// Time for starting, waiting and stopping, in addition to the load.
const START_ALLOWANCE: Duration = Duration::from_secs(3);
/// Time for the functional checks.
const CHECKS_ALLOWANCE: Duration = Duration::from_secs(2);
/// Time for the slow lifecycle checks; a contender that takes its time to give up may need more.
const LIFECYCLE_ALLOWANCE: Duration = Duration::from_secs(10);

/// Sets the order of the steps apart from other draws of the same seed.
const ORDER: u64 = 0x6f_7264_6572;

/// The steps of a process under a profile, which shares the time of its case with another one or
/// does not.
pub(super) fn of_process(profile: &Profile, benchmark: &Benchmark, shares_time: bool) -> Vec<Step> {
    let mut steps = steps(profile, benchmark);
    if shares_time {
        let measured = steps.iter_mut().filter(|step| !step.warm_up);
        measured.for_each(|step| step.duration /= 2);
    }
    steps
}

/// The steps of a benchmark under a profile.
fn steps(profile: &Profile, benchmark: &Benchmark) -> Vec<Step> {
    match (benchmark.kind, &benchmark.capacity) {
        (BenchmarkKind::Startup { .. }, _) => Vec::new(),
        (BenchmarkKind::Capacity, Some(capacity)) => profile.steps_before(capacity),
        _ => profile.steps_of(benchmark).steps.to_vec(),
    }
}

/// Whether contenders can take turns in a benchmark: closed load in every step, and users without
/// pauses that find their connections open. An open load goes on while a contender has no turn, and
/// so do a pause and a queue of connections.
pub(super) fn can_take_turns(profile: &Profile, benchmark: &Benchmark) -> bool {
    let steps = profile.steps_of(benchmark).steps;
    let is_closed = steps.iter().all(|step| step.pace == Pace::Closed);
    let pauses = |request: &RequestSpec| request.pause.is_some_and(|pause| pause.max_ns > 0);
    let is_pushed = matches!(benchmark.transport.protocol, Protocol::Websocket(_));
    let scenario = benchmark.scenario.as_ref();
    let arrives = scenario.is_some_and(|users| users.connect == Connect::OnArrival);
    benchmark.kind == BenchmarkKind::Load
        && is_closed
        && !benchmark.requests.iter().any(pauses)
        && !is_pushed
        && !arrives
}

/// [`PlannedRun::step_order`]: the warm-up first, then the measured steps in an order that a seed
/// and a repetition stand for. Empty if the steps are played as they are listed.
pub(super) fn order(
    profile: &Profile,
    benchmark: &Benchmark,
    seed: u64,
    repetition: u32,
) -> Vec<usize> {
    let chosen = profile.steps_of(benchmark);
    let is_random = chosen.order == StepOrder::Random;
    if benchmark.kind != BenchmarkKind::Load || !is_random {
        return Vec::new();
    }
    let indices = 0..chosen.steps.len();
    let (mut order, mut measured): (Vec<usize>, Vec<usize>) =
        indices.partition(|index| chosen.steps[*index].warm_up);
    // The repetition in the high half: neighbouring seeds have other orders.
    let mut random = Random::new(seed ^ ORDER ^ (u64::from(repetition) << 32));
    random.shuffle(&mut measured);
    order.extend(measured);
    order
}

/// Expected duration of a run, without builds.
pub(super) fn expected(run: &PlannedRun) -> Duration {
    if run.kind == RunKind::Startup {
        return START_ALLOWANCE;
    }
    let slow_checks = match run.lifecycle {
        true => LIFECYCLE_ALLOWANCE,
        false => Duration::ZERO,
    };
    START_ALLOWANCE + CHECKS_ALLOWANCE + slow_checks + load(run, |step| step.duration)
}

/// The time of a run under load if a step takes this long.
pub(super) fn load(run: &PlannedRun, of_step: fn(&Step) -> Duration) -> Duration {
    let played = run.played();
    let steps: Duration = played.iter().map(|step| of_step(&run.steps[*step])).sum();
    let capacity = run.capacity.as_ref();
    let trials = capacity.map_or(Duration::ZERO, |capacity| capacity.longest(run.repetition));
    let open = run.latency.map_or(Duration::ZERO, |load| load.expected());
    steps + trials + open
}
