//! The load spec of a run. Pure.

use std::net::SocketAddr;
use std::time::Duration;

use bakeoff_base::number::length_as_f64;
use bakeoff_base::random::Random;
use bakeoff_model::load::tls::Tls;
use bakeoff_model::load::{
    CpuCounter, LoadSpec, Pace, ReactorChoice, RequestSpec, StepSpec, Target, Turns,
};
use bakeoff_model::plan::{LatencyLoad, PlannedRun};
use bakeoff_model::record::Cores;
use bakeoff_model::request::scenario::Scenario;
use bakeoff_model::suite::{Grpc, Step};
use bakeoff_model::text::duration_ns;

/// One response in this many is checked whole; status and length are checked on every one.
const CHECK_BODY_EVERY: u32 = 64;

/// Sets the order of the contenders in open load apart from other draws of the same seed.
const OPEN_LOAD: u64 = 0x6f70_656e;

/// A contender that is loaded.
#[derive(Debug)]
pub struct Loaded<'a> {
    /// The address of the contender.
    pub address: SocketAddr,
    /// The device to which connections to it are bound; `None` if they are not.
    pub device: Option<&'a str>,
    /// The name for `Host` in requests [default: the address].
    pub host: Option<&'a str>,
    /// Where the contender's CPU time can be read.
    pub cpu_counter: Option<CpuCounter>,
    /// How the contender is reached over TLS; `None` without TLS.
    pub tls: Option<Tls>,
}

/// Everything that the load spec depends on.
#[derive(Debug)]
pub struct SpecInput<'a> {
    /// The contenders; several take turns.
    pub loaded: Vec<Loaded<'a>>,
    /// Requests of the load.
    pub requests: &'a [RequestSpec],
    /// Makes the requests a scenario.
    pub scenario: Option<&'a Scenario>,
    /// Makes the requests calls of gRPC.
    pub grpc: Option<&'a Grpc>,
    /// How the requests travel, and which load of the case it is.
    pub run: &'a PlannedRun,
    /// The steps in the order in which they are played.
    pub steps: &'a [Step],
    /// Which cores each part may use.
    pub cores: &'a Cores,
    /// Length of a recorded slice.
    pub slice: Duration,
    /// How long connecting and a response may take.
    pub response_timeout: Duration,
    /// Seed of random choices.
    pub seed: u64,
}

/// The steps of a run in the order in which they are played.
#[must_use]
pub fn played_steps(run: &PlannedRun) -> Vec<Step> {
    let played = run.played().into_iter();
    played.map(|index| run.steps[index]).collect()
}

/// The load spec.
#[must_use]
pub fn load_spec(input: &SpecInput<'_>) -> LoadSpec {
    let transport = input.run.transport;
    let mut targets = input.loaded.iter().map(|loaded| Target {
        address: loaded.address.to_string(),
        device: loaded.device.map(str::to_owned),
        host: loaded.host.map(str::to_owned),
        tls: loaded.tls.is_some(),
        insecure: loaded.tls.as_ref().is_some_and(|tls| tls.insecure),
        trust: loaded.tls.clone(),
        unix_socket: None,
        protocol: transport.protocol,
        cpu_counter: loaded.cpu_counter.clone(),
    });
    let sides = u32::try_from(input.loaded.len()).unwrap_or(u32::MAX).max(1);
    LoadSpec {
        recorded: Vec::new(),
        target: targets.next().unwrap_or_default(),
        further_targets: targets.collect(),
        requests: input.requests.to_vec(),
        scenario: input.scenario.cloned(),
        steps: steps(input, sides),
        threads: input.cores.generator.len().max(1),
        cores: input.cores.generator.clone(),
        timeout_connect_ns: duration_ns::whole(input.response_timeout),
        timeout_answer_ns: duration_ns::whole(input.response_timeout),
        slice_ns: duration_ns::whole(input.slice * sides),
        seed: input.seed,
        check_body_every: CHECK_BODY_EVERY,
        stepwise: true,
        reactor: ReactorChoice::Auto,
        keep_alive_off: !transport.keep_alive,
        in_flight: transport.in_flight,
        grpc: input.grpc.map(|grpc| grpc.descriptors.clone()),
        part: None,
    }
}

/// The open load of contenders that are loaded one at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct OpenLoad {
    /// The load as planned.
    pub latency: LatencyLoad,
    /// Requests per second of each contender.
    pub rate_per_s: f64,
    slices: Vec<OpenSlice>,
}

/// The load at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenSlice {
    /// Which contender.
    pub side: u32,
    /// 0 is the warm-up, others are the cycles.
    pub number: u32,
    /// How long.
    pub duration: Duration,
    /// Whether the slice is warm-up.
    pub warm_up: bool,
}

impl OpenLoad {
    /// A slice of warm-up of each contender, then the cycles, each in its own order.
    pub fn new(latency: LatencyLoad, rate_per_s: f64, contenders: usize, seed: u64) -> Self {
        let mut random = Random::new(seed ^ OPEN_LOAD);
        let mut sides: Vec<u32> = (0..u32::try_from(contenders).unwrap_or(u32::MAX)).collect();
        let mut slices = Vec::new();
        for number in 0..=latency.cycles(rate_per_s) {
            random.shuffle(&mut sides);
            let warm_up = number == 0;
            slices.extend(sides.iter().map(|side| OpenSlice {
                side: *side,
                number,
                duration: match warm_up {
                    true => LatencyLoad::WARM_UP,
                    false => latency.slice,
                },
                warm_up,
            }));
        }
        Self {
            latency,
            rate_per_s,
            slices,
        }
    }

    /// Returns the loads, in order.
    #[must_use]
    pub fn slices(&self) -> &[OpenSlice] {
        &self.slices
    }
}

/// How long responses are awaited at the end of a slice of open load.
const AWAITED: Duration = Duration::from_secs(2);

/// The load spec of an open load: a step for each slice.
#[must_use]
pub fn open_load_spec(input: &SpecInput<'_>, load: &OpenLoad) -> LoadSpec {
    let step = |slice: &OpenSlice| StepSpec {
        connections: load.latency.connections,
        duration_ns: duration_ns::whole(slice.duration),
        pace: Pace::Poisson {
            rate_per_s: load.rate_per_s,
        },
        warm_up: slice.warm_up,
        awaited_ns: duration_ns::whole(AWAITED),
        side: slice.side,
        ..StepSpec::default()
    };
    LoadSpec {
        steps: load.slices.iter().map(step).collect(),
        // A step is one slice, its end included.
        slice_ns: 0,
        ..load_spec(input)
    }
}

/// The steps as they are played: of contenders that take turns, so long that each of them is loaded
/// for as long as the step says. A warm-up that ends when the contenders are warm is a step of one
/// block, which is played again.
fn steps(input: &SpecInput<'_>, sides: u32) -> Vec<StepSpec> {
    let steps = input.steps.iter().map(|step| {
        let each = step.block(input.slice);
        StepSpec {
            connections: step.connections,
            duration_ns: duration_ns::whole(each * sides),
            pace: step.pace,
            warm_up: step.warm_up,
            turns: (sides > 1).then(|| turns(input, each)),
            ..StepSpec::default()
        }
    });
    steps.collect()
}

/// Returns how long turns may be in a step that loads each contender for this long: as the plan
/// says, else long enough for a CPU quota if one holds the contenders.
fn turns(input: &SpecInput<'_>, each: Duration) -> Turns {
    if let Some(turn_ns) = input.run.turn_ns {
        return Turns {
            shortest_ns: turn_ns,
            longest_ns: turn_ns,
        };
    }
    let cores = input.cores.contender.len();
    let is_held = |quota: f64| cores == 0 || quota < length_as_f64(cores);
    let shortest_ns = match input.run.limits.cpus.is_some_and(is_held) {
        true => Turns::SHORTEST_NS_UNDER_QUOTA,
        false => Turns::SHORTEST_NS,
    };
    Turns {
        shortest_ns,
        longest_ns: Turns::longest_ns(each),
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;
    use std::time::Duration;

    use bakeoff_model::load::Pace;
    use bakeoff_model::plan::{LatencyLoad, PlannedRun};
    use bakeoff_model::record::Cores;

    use super::{Loaded, OpenLoad, SpecInput, load_spec, open_load_spec, played_steps};
    use crate::tests::fakes::pending;

    #[test]
    fn turns_are_as_long_as_the_plan_says_and_the_step_allows() {
        let mut run = pending("one.r1", false).run;
        let check = |run: &mut PlannedRun, seconds: u64, expect_ms: (u64, u64)| {
            for step in &mut run.steps {
                step.duration = Duration::from_secs(seconds);
            }
            let loaded = || Loaded {
                address: SocketAddr::from(([127, 0, 0, 1], 8080)),
                device: None,
                host: None,
                cpu_counter: None,
                tls: None,
            };
            let spec = load_spec(&SpecInput {
                loaded: vec![loaded(), loaded()],
                requests: &[],
                scenario: None,
                grpc: None,
                run,
                steps: &played_steps(run),
                cores: &Cores::default(),
                slice: Duration::from_millis(250),
                response_timeout: Duration::from_secs(15),
                seed: 1,
            });
            for step in &spec.steps {
                let turns = step.turns.unwrap();
                let ms = |ns: u64| ns / 1_000_000;
                assert_eq!((ms(turns.shortest_ns), ms(turns.longest_ns)), expect_ms);
                assert_eq!(ms(step.duration_ns), 2 * 1000 * seconds);
            }
        };
        check(&mut run, 4, (20, 500));
        // Ten turns of each contender at least.
        check(&mut run, 30, (20, 3000));
        run.limits.cpus = Some(0.5);
        check(&mut run, 4, (500, 500));
        check(&mut run, 30, (500, 3000));
        run.turn_ns = Some(50_000_000);
        check(&mut run, 30, (50, 50));
    }

    #[test]
    fn open_load_is_a_step_for_each_slice_of_a_contender() {
        let loaded = || Loaded {
            address: SocketAddr::from(([127, 0, 0, 1], 8080)),
            device: None,
            host: None,
            cpu_counter: None,
            tls: None,
        };
        let input = SpecInput {
            loaded: vec![loaded(), loaded(), loaded()],
            requests: &[],
            scenario: None,
            grpc: None,
            run: &pending("one.r1", false).run,
            steps: &[],
            cores: &Cores::default(),
            slice: Duration::from_millis(250),
            response_timeout: Duration::from_secs(15),
            seed: 1,
        };
        let latency = LatencyLoad {
            connections: 32,
            duration: Duration::from_secs(4),
            slice: Duration::from_secs(1),
        };
        let load = OpenLoad::new(latency, 7000.0, 3, 1);
        let spec = open_load_spec(&input, &load);
        assert_eq!((spec.side_count(), spec.slice_ns), (3, 0));
        assert!(spec.stepwise && spec.steps.len() == 3 * (1 + 4));
        for step in &spec.steps {
            assert_eq!(step.pace, Pace::Poisson { rate_per_s: 7000.0 });
            assert_eq!((step.connections, step.turns), (32, None));
            let length_ms = step.duration_ns / 1_000_000;
            assert_eq!(length_ms, if step.warm_up { 200 } else { 1000 });
            assert_eq!(step.awaited_ns, 2_000_000_000);
        }
        let cycles = spec.steps.chunks(3);
        let orders: Vec<Vec<u32>> = cycles
            .map(|cycle| cycle.iter().map(|step| step.side).collect())
            .collect();
        let sorted = orders.iter().map(|order| {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            sorted
        });
        assert!(
            sorted.eq([[0, 1, 2]; 5]),
            "one of each in a cycle: {orders:?}"
        );
        assert!(orders[1..].iter().any(|order| *order != orders[0]));
        assert_eq!(load, OpenLoad::new(latency, 7000.0, 3, 1), "by the seed");
    }
}
