//! Made-up results that look like real ones. Every name says that they are synthetic.

pub(crate) mod baseline;
pub(crate) mod capacity;
pub(crate) mod control;
pub(crate) mod groups;
pub(crate) mod latency;
pub(crate) mod overhead;
pub(crate) mod published;
pub(crate) mod ranking;
pub(crate) mod reasons;
pub(crate) mod turns;
pub(crate) mod warm_up;
pub(crate) mod winners;

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use bakeoff_base::random::Random;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::transport::Transport;
use bakeoff_model::load::{Connections, CpuTime, ErrorClass, ErrorCount, LoadInterval, Pace};
use bakeoff_model::measure::resource::{Memory, ResourceSample, Throttling};
use bakeoff_model::plan::{PlannedRun, RunKind, Work};
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{
    Begin, CheckRecord, Cores, EndRecord, FORMAT, Host, IdleRecord, IntervalRecord, Moment,
    Outcome, Results, RunRecords, Startup,
};
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::conditions::{BackendName, Enforcement, RuntimeKind, TrafficPath};
use bakeoff_model::suite::{Limits, ReplaySettings, Step};
use bakeoff_model::validity::{FairnessVerdict, RequiredReading, Validity};

const SECOND: u64 = 1_000_000_000;
const MIB: u64 = 1 << 20;
const SLICES: u32 = 4;

/// How a made-up contender behaves.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) parameters: &'static [(&'static str, &'static str)],
    /// Requests per second at the best load.
    pub(crate) peak: f64,
    pub(crate) startup_s: f64,
    pub(crate) memory_mib: u64,
    /// CPU per request when warm, us.
    pub(crate) cpu_us: f64,
    /// How much slower it is when cold.
    pub(crate) cold: f64,
    pub(crate) fault: Fault,
    pub(crate) validity: Validity,
    /// The contender of which its numbers are a share.
    pub(crate) baseline: Option<&'static str>,
}

/// How it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// A functional check fails.
    WrongResponse,
    /// Killed for memory in the last but one step of the second run.
    OutOfMemory,
    /// The contender never responds.
    NeverReady,
    /// Requests time out at the highest loads.
    TimeOuts,
}

pub(crate) fn contender(name: &'static str, peak: f64, cpu_us: f64) -> Contender {
    Contender {
        name,
        parameters: &[],
        peak,
        startup_s: 0.002,
        memory_mib: 12,
        cpu_us,
        cold: 1.0,
        fault: Fault::None,
        validity: Validity::fair(),
        baseline: None,
    }
}

/// A session with everything that a report can meet, made once.
pub(crate) fn results() -> &'static Results {
    static RESULTS: OnceLock<Results> = OnceLock::new();
    RESULTS.get_or_init(make_results)
}

fn make_results() -> Results {
    let jvm = |name, peak, cpu_us, fault| Contender {
        startup_s: 2.6,
        memory_mib: 120,
        cold: 0.25,
        fault,
        ..contender(name, peak, cpu_us)
    };
    let bound = |one: Contender| Contender {
        validity: Validity::recorded(
            FairnessVerdict::HostBound,
            "contender, load generator and backend used 1.93 of 2 cores",
        ),
        ..one
    };
    let fair = [
        contender("synthetic-actix-4", 10_950.0, 163.0),
        contender("synthetic-axum", 10_900.0, 165.0),
        jvm("synthetic-http4k-3/undertow", 3539.0, 571.0, Fault::None),
        jvm(
            "synthetic-http4k-3/apache-4",
            3100.0,
            640.0,
            Fault::OutOfMemory,
        ),
        jvm("synthetic-ktor-1", 5041.0, 466.0, Fault::TimeOuts),
        Contender {
            parameters: &[("WORKERS", "16")],
            ..contender("synthetic-rocket-0.4", 6762.0, 250.0)
        },
        Contender {
            parameters: &[("WORKERS", "8")],
            fault: Fault::WrongResponse,
            ..contender("synthetic-rocket-0.4", 6100.0, 260.0)
        },
        Contender {
            fault: Fault::NeverReady,
            ..contender("synthetic-tide", 1.0, 1.0)
        },
    ];
    let shared = [
        bound(contender("synthetic-actix-4", 9000.0, 200.0)),
        bound(jvm("synthetic-ktor-1", 4000.0, 480.0, Fault::None)),
        contender("synthetic-slow", 120.0, 8000.0),
    ];
    let mut runs = Vec::new();
    for repetition in 1..=4 {
        for one in &fair {
            runs.push(run("city-get", one, repetition, runs.len()));
        }
    }
    for one in &shared {
        runs.push(run("closest", one, 1, runs.len()));
    }
    for repetition in 1..=20 {
        for one in &fair {
            runs.push(start("start-up", one, repetition, runs.len()));
        }
    }
    Results {
        runs,
        notes: Some(
            "# Synthetic\n\nThese numbers are **made up** to test the report: `<b>` must not be \
             bold.\n\n- one\n- two\n"
                .to_owned(),
        ),
        analysis: Some("Why these workloads exist and how to read them.".to_owned()),
        ..Results::default()
    }
}

fn steps() -> Vec<Step> {
    let step = |connections, warm_up| Step {
        connections,
        duration: Duration::from_secs(SLICES.into()),
        pace: Pace::Closed,
        warm_up,
        at_least: None,
    };
    let mut steps = vec![step(1, true); 3];
    steps.extend([2, 4, 8, 16, 32, 64, 128, 256, 512].map(|connections| step(connections, false)));
    steps
}

/// One run; the same arguments always give the same run.
pub(crate) fn run(benchmark: &str, one: &Contender, repetition: u32, order: usize) -> RunRecords {
    run_of_steps(benchmark, one, repetition, order, steps())
}

/// One run with the given steps.
pub(crate) fn run_of_steps(
    benchmark: &str,
    one: &Contender,
    repetition: u32,
    order: usize,
    steps: Vec<Step>,
) -> RunRecords {
    let mut random = Random::new(order as u64 + 1);
    let level = 1.0 + (random.unit() - 0.5) * 0.03;
    let mut begin = begin(benchmark, one, repetition, order);
    begin.run.steps = steps;
    let mut records = RunRecords {
        startup: None,
        probes: Vec::new(),
        checks: Vec::new(),
        idle: Vec::new(),
        intervals: Vec::new(),
        fleets: Vec::new(),
        metrics: Vec::new(),
        trials: Vec::new(),
        capacities: Vec::new(),
        end: None,
        begin,
    };
    records.checks = checks(one);
    if one.fault == Fault::NeverReady {
        records.checks.clear();
        records.end = Some(end(Outcome::Failed(
            Failure::new(Stage::Ready, "not ready after 15 s")
                .with_evidence("thread 'main' panicked:\n<no such route>"),
        )));
        return records;
    }
    records.startup = Some(startup(one, level));
    records.idle.push(IdleRecord {
        moment: Moment::Checked,
        contender: Some(sample(one, 0, cpu_start_ns(one), 1.1)),
        backend: None,
        gc: None,
    });
    records.intervals = intervals(
        one,
        repetition,
        level,
        &records.begin.run.steps,
        &mut random,
    );
    let killed = one.fault == Fault::OutOfMemory && repetition == 2;
    records.end = Some(end(if killed {
        let message = "killed for memory (512 MiB) at 256 connections";
        let failure = Failure::new(Stage::Load, message).with_oom_killed(true);
        Outcome::Failed(failure.with_evidence("memory cgroup out of memory"))
    } else {
        Outcome::Completed
    }));
    records
}

/// A cold start: a run without checks and load.
fn start(benchmark: &str, one: &Contender, repetition: u32, order: usize) -> RunRecords {
    let mut records = run(benchmark, one, repetition, order);
    records.begin.run.kind = RunKind::Startup;
    records.begin.run.steps.clear();
    records.checks.clear();
    records.idle.clear();
    records.intervals.clear();
    if one.fault != Fault::NeverReady
        && let Some(end) = records.end.as_mut()
    {
        end.outcome = Outcome::Completed;
    }
    records
}

/// Readings that these records go without.
const NOT_RECORDED: [RequiredReading; 4] = [
    RequiredReading::CoreTimes,
    RequiredReading::TcpCounters,
    RequiredReading::Turnaround,
    RequiredReading::Connecting,
];

fn begin(benchmark: &str, one: &Contender, repetition: u32, order: usize) -> Begin {
    let parameters = one.parameters.iter();
    let parameters: BTreeMap<String, String> = parameters
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Begin {
        format: FORMAT,
        run: PlannedRun {
            id: format!("{benchmark}.{}.{parameters:?}.r{repetition}", one.name),
            order,
            repetition,
            benchmark: benchmark.to_owned(),
            kind: RunKind::Load,
            contender: one.name.to_owned(),
            parameters: parameters.into(),
            twin: false,
            limits: Limits {
                cpus: Some(1.5),
                memory_bytes: Some(512 * MIB),
            },
            steps: Vec::new(),
            step_order: Vec::new(),
            in_turns: false,
            group: None,
            turn_ns: None,
            latency: None,
            capacity: None,
            transport: Transport::default(),
            work: Work::default(),
            lifecycle: repetition == 1,
            expected: Duration::from_secs(60),
        },
        attempt: 1,
        suite: "synthetic".to_owned(),
        suite_digest: "0".repeat(64),
        profile: "seed".to_owned(),
        runtime: RuntimeKind::Process,
        backend: BackendName::Replay,
        backend_settings: ReplaySettings::default(),
        backend_at: None,
        at: format!("2026-01-01T00:{order:02}:00Z"),
        sitting: None,
        describe: format!("A made-up contender called {}", one.name),
        language: "none".to_owned(),
        note: (one.name == "synthetic-slow").then(|| "Slow on purpose.".to_owned()),
        baseline: one.baseline.map(str::to_owned),
        version: Some(format!("{} 0.0", one.name)),
        artifact_digest: Some("sha256:".to_owned() + &"ab".repeat(32)),
        enforcement: Enforcement::CgroupV1,
        traffic_path: TrafficPath::Loopback,
        cores: Cores {
            contender: vec![0],
            generator: vec![1],
            backend: vec![1],
        },
        nodes: None,
        host: Host {
            kernel: "6.0-synthetic".to_owned(),
            cpu_model: "Synthetic CPU".to_owned(),
            cores: 8,
            memory_bytes: 16 << 30,
            governor: Some("performance".to_owned()),
            os: "Synthetic Linux".to_owned(),
            nofile: 65_536,
            versions: BTreeMap::from([("bakeoff".to_owned(), "0.1.0".to_owned())]),
            ..Host::default()
        },
        not_recorded: NOT_RECORDED.to_vec(),
    }
}

fn startup(one: &Contender, level: f64) -> Startup {
    let ns = whole(one.startup_s * level * 1e9);
    Startup {
        created_ns: 1_000_000,
        executed_ns: 2_000_000,
        listened_ns: ns - ns / 10,
        answered_ns: ns + 2_000_000,
        startup_ns: ns,
        resources: sample(one, 0, cpu_start_ns(one), 1.0),
        image_bytes: Some(one.memory_mib * MIB),
        pod: None,
    }
}

fn cpu_start_ns(one: &Contender) -> u64 {
    whole(one.startup_s * 1.4e9)
}

fn sample(one: &Contender, at_ns: u64, cpu_ns: u64, growth: f64) -> ResourceSample {
    let peak_bytes = whole(as_f64(one.memory_mib * MIB) * growth);
    ResourceSample {
        at_ns,
        cpu: Some(CpuTime {
            user_ns: cpu_ns / 4 * 3,
            system_ns: cpu_ns / 4,
        }),
        throttling: Some(Throttling {
            periods: at_ns / 100_000_000,
            throttled_periods: at_ns / 1_000_000_000,
            throttled_ns: at_ns / 50,
        }),
        memory: Some(Memory {
            now_bytes: peak_bytes - MIB,
            peak_bytes,
            ..Memory::default()
        }),
        ..ResourceSample::default()
    }
}

fn checks(one: &Contender) -> Vec<CheckRecord> {
    let check = |group: &str, name: &str, outcome: CheckOutcome, value: Option<&str>| CheckRecord {
        group: group.to_owned(),
        name: name.to_owned(),
        outcome,
        duration_ns: 1_234_567,
        value: value.map(str::to_owned),
    };
    let threads = if one.cold < 1.0 {
        "24 x worker, 1 x main"
    } else {
        "4 x worker, 1 x main"
    };
    let graceful = CheckOutcome::Bad {
        assertion: "still running after 15 s".to_owned(),
    };
    let wrong = CheckOutcome::Bad {
        assertion: "$.name: expected \"Plzeň\", found \"<Pilsen & co>\"".to_owned(),
    };
    let good = || CheckOutcome::Good;
    vec![
        check(
            "lifecycle",
            "does not start without its environment",
            good(),
            Some("0.4321 s"),
        ),
        check(
            "lifecycle",
            "threads on 4 cpus, quota 4",
            good(),
            Some(threads),
        ),
        check("lifecycle", "image size", good(), Some("52.34567 MiB")),
        check(
            "lifecycle",
            "stops gracefully",
            if one.name == "synthetic-ktor-1" {
                graceful
            } else {
                good()
            },
            None,
        ),
        check("get", "root", good(), None),
        check(
            "get",
            "Plzeň in Czech",
            if one.fault == Fault::WrongResponse {
                wrong
            } else {
                good()
            },
            None,
        ),
        check(
            "openapi",
            "is served",
            CheckOutcome::NotApplicable {
                reason: "this variant has no OpenAPI layer".to_owned(),
            },
            None,
        ),
    ]
}

fn intervals(
    one: &Contender,
    repetition: u32,
    level: f64,
    steps: &[Step],
    random: &mut Random,
) -> Vec<IntervalRecord> {
    let mut intervals = Vec::new();
    let mut cpu_ns = cpu_start_ns(one);
    let mut at_ns = 10 * SECOND;
    for (index, step) in steps.iter().enumerate() {
        if one.fault == Fault::OutOfMemory && repetition == 2 && step.connections >= 256 {
            break;
        }
        for slice in 0..SLICES {
            let noise = 1.0 + (random.unit() - 0.5) * 0.04;
            let age = as_f64(at_ns - 10 * SECOND) / 1e9;
            let cold = one.cold + (1.0 - one.cold) * (age / 9.0).min(1.0);
            let connections = f64::from(step.connections);
            let rate = one.peak * level * noise * cold * connections / (connections + 12.0)
                * (1.0 - connections / 6000.0);
            let used_ns = whole(rate * one.cpu_us * 1e3 / cold);
            let growth = 1.2 + connections / 300.0;
            let before = sample(one, at_ns, cpu_ns, growth);
            let after = sample(one, at_ns + SECOND, cpu_ns + used_ns, growth);
            intervals.push(IntervalRecord {
                connections: step.connections,
                warm_up: step.warm_up,
                load: load(one, index, slice, at_ns, rate, step.connections),
                contender_before: Some(before),
                contender_after: Some(after),
                backend_before: Some(sample(one, at_ns, cpu_ns / 3, 1.0)),
                backend_after: Some(sample(one, at_ns + SECOND, cpu_ns / 3 + used_ns / 4, 1.0)),
                validity: if step.connections >= 32 {
                    one.validity.clone()
                } else {
                    Validity::fair()
                },
                ..IntervalRecord::default()
            });
            cpu_ns += used_ns;
            at_ns += SECOND;
        }
    }
    intervals
}

/// The load generator's slice of one second at that rate.
pub(crate) fn load(
    one: &Contender,
    step: usize,
    slice: u32,
    start_ns: u64,
    rate: f64,
    connections: u32,
) -> LoadInterval {
    let mean_ns = f64::from(connections) / rate * 1e9;
    let mut errors = BTreeMap::new();
    if one.fault == Fault::TimeOuts && connections >= 256 {
        let example = Some("no byte within 15 s".to_owned());
        let count = u64::from(connections / 16);
        errors.insert(
            ErrorClass::HeaderTimeout,
            ErrorCount {
                count,
                time_ns_sum: count * 15 * SECOND,
                example,
                ..ErrorCount::default()
            },
        );
    }
    LoadInterval {
        step,
        slice,
        start_ns,
        end_ns: start_ns + SECOND,
        requests: whole(rate),
        errors,
        service_time: times(mean_ns),
        censored: times(0.0),
        connections: Connections {
            asked: connections,
            established: connections,
            in_flight_max: connections,
            reconnects: 0,
            on_arrival: false,
        },
        sent_bytes: 100 * whole(rate),
        redirects: 0,
        received_bytes: 250 * whole(rate),
        turnaround_ns: Some(0),
        connecting_ns: Some(0),
        generator_cpu: CpuTime {
            user_ns: whole(rate * 1e3),
            system_ns: whole(rate * 5e3),
        },
        generator_threads: 1,
        ..LoadInterval::default()
    }
}

/// A histogram with a tail of a few times the mean, empty for 0. As if it had been read from a
/// file, which keeps a session in little memory; equal ones are made once.
fn times(mean_ns: f64) -> Histogram {
    static MADE: Mutex<BTreeMap<u64, Histogram>> = Mutex::new(BTreeMap::new());
    // Two digits are enough for made-up times.
    let size = 10_f64.powf(mean_ns.max(1.0).log10().floor() - 1.0);
    let rounded = whole((mean_ns / size).round() * size);
    let make = || {
        let mut histogram = Histogram::new();
        for place in 0..if rounded == 0 { 0 } else { 200_u32 } {
            // Exponential quantiles.
            let share = (f64::from(place) + 0.5) / 200.0;
            histogram.record(whole(as_f64(rounded) * (0.4 - 0.6 * (1.0 - share).ln())));
        }
        Histogram::decode(&histogram.encode()).unwrap()
    };
    MADE.lock()
        .unwrap()
        .entry(rounded)
        .or_insert_with(make)
        .clone()
}

fn end(outcome: Outcome) -> EndRecord {
    EndRecord {
        at: "2026-01-01T01:00:00Z".to_owned(),
        outcome,
        last_connections: None,
        notes: Vec::new(),
    }
}

#[expect(clippy::cast_precision_loss, reason = "made-up numbers are small")]
fn as_f64(value: u64) -> f64 {
    value as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up numbers are small and positive"
)]
fn whole(value: f64) -> u64 {
    value.round() as u64
}
