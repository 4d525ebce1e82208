//! A fake runtime, client, load generator and contender, and a log of events.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use bakeoff_base::problem::Problem;
use bakeoff_build::Built;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::load::transport::Transport;
use bakeoff_model::load::{
    Connections, CpuTime, LoadEvent, LoadInterval, LoadSpec, Pace, RequestSpec, StepCommand,
    TurnCount,
};
use bakeoff_model::measure::resource::{HostTime, ResourceSample};
use bakeoff_model::plan::{Parameters, PlannedRun, RunKind, Work};
use bakeoff_model::record::{Begin, Cores, Host, IntervalRecord, Outcome, Record, Startup};
use bakeoff_model::request::Body;
use bakeoff_model::request::check::{Check, CheckOutcome, Expect, ReceivedResponse};
use bakeoff_model::suite::capacity::{CapacityRange, CapacityRecord, SearchEnd};
use bakeoff_model::suite::conditions::{BackendName, Enforcement, RuntimeKind, TrafficPath};
use bakeoff_model::suite::dependency::Dependency;
use bakeoff_model::suite::metrics::MetricsRecord;
use bakeoff_model::suite::slo::Slo;
use bakeoff_model::suite::{Contender, Limits, ReplaySettings, Step, Suite};
use bakeoff_places::contender::Ready;
use bakeoff_places::contracts::{Client, Destination, Installer, LoadGenerator, RunningLoad};
use bakeoff_places::place::Place;
use bakeoff_places::services::{Service, ServiceHost, Services, Setting, WantedService};
use bakeoff_places::this_host::process_runtime;
use bakeoff_places::{
    BoxFuture, ContainerOptions, ExitInfo, Instance, ReadyError, Runtime, Sampled, StartError,
    StartSpec, StopReport, SweepError,
};
use bakeoff_store::event::{Event, Observer};

use crate::contracts::{Cases, PendingRun, SessionDeps};
use crate::driver::Driver;
use crate::ready_case::{Case, ReadyProbe};
use crate::store::locked_folder::LockedFolder;

/// How a fake contender behaves.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Script {
    /// Exits before it is ready; only the victim if there is one.
    pub(super) exits_at_once: bool,
    /// Responds to everything with this status.
    pub(super) status: u16,
    /// Is killed for memory after this number of samples; 0 = never.
    pub(super) killed_after_samples: usize,
    /// Ignores the request to stop.
    pub(super) stubborn: bool,
    /// The only contender that exits or is killed for memory; all when empty.
    pub(super) victim: &'static str,
    /// Requests that each step has more than the one before; in turns, those of the second
    /// contender alone.
    pub(super) faster: u64,
    /// The tool that fails: `shim`, before it executes the contender, or `load generator`, at its
    /// first slice.
    pub(super) failing_tool: &'static str,
    /// The output of its probe before it succeeds; empty: it has no probe.
    pub(super) probe: &'static str,
    /// The load generator reports no slice before it hears that a target left.
    pub(super) silent_load: bool,
    /// The response at `/metrics`: there is none when empty, and never one when it `hangs`.
    pub(super) metrics: &'static str,
}

/// Events that observers saw and calls to contenders, in one order.
pub(crate) type Journal = Arc<Mutex<Vec<String>>>;

struct FakeRuntime(Script, Journal);

struct FakeInstance {
    script: Script,
    label: String,
    journal: Journal,
    samples: Mutex<usize>,
    dead_env: bool,
    is_probe: bool,
}

impl Runtime for FakeRuntime {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        let dead_env = spec.env.get("BACKEND").is_none_or(|value| value != "live");
        let instance = FakeInstance {
            script: self.0,
            label: spec.label.clone(),
            journal: Arc::clone(&self.1),
            samples: Mutex::new(0),
            dead_env,
            is_probe: spec.command == ["probe"],
        };
        Box::pin(async move { Ok(Box::new(instance) as Box<dyn Instance>) })
    }

    fn enforcement(&self) -> Enforcement {
        Enforcement::CgroupV2
    }

    fn traffic_path(&self) -> TrafficPath {
        TrafficPath::Loopback
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>> {
        Box::pin(async { Ok(Vec::new()) })
    }
}

impl FakeInstance {
    fn is_spared(&self) -> bool {
        !["", self.label.as_str()].contains(&self.script.victim)
    }

    fn exit(&self) -> Option<ExitInfo> {
        let killed = self.script.killed_after_samples;
        if self.dead_env || self.is_probe {
            return Some(ExitInfo {
                code: Some(i32::from(self.dead_env)),
                ..ExitInfo::default()
            });
        }
        (killed > 0 && !self.is_spared() && *self.samples.lock().unwrap() > killed).then_some(
            ExitInfo {
                signal: Some(9),
                oom_killed: true,
                code: None,
            },
        )
    }
}

impl Instance for FakeInstance {
    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 8080))
    }

    fn await_ready(&mut self, _: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>> {
        let exits = self.script.exits_at_once && !self.is_spared();
        let is_executed = self.script.failing_tool != "shim";
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(5)).await;
            if !is_executed {
                return Err(ReadyError::NotExecuted("shim ended".into()));
            }
            if exits {
                return Err(ReadyError::Exited {
                    label: "fake".to_owned(),
                    exit: ExitInfo {
                        code: Some(7),
                        ..ExitInfo::default()
                    },
                    after: Duration::from_millis(5),
                    log: "it was not meant to be".to_owned(),
                });
            }
            Ok(Startup {
                startup_ns: 5_000_000,
                ..Startup::default()
            })
        })
    }

    fn sample(&self) -> BoxFuture<'_, Sampled> {
        let mut samples = self.samples.lock().unwrap();
        *samples += 1;
        let cpu = CpuTime {
            user_ns: *samples as u64 * 1000,
            system_ns: 0,
        };
        // As much as its own time, so that readings of two moments do not fit together.
        let host = Some(HostTime {
            wall_ns: cpu.user_ns,
            ..HostTime::default()
        });
        Box::pin(async move {
            let resources = ResourceSample {
                cpu: Some(cpu),
                ..ResourceSample::default()
            };
            Sampled { resources, host }
        })
    }

    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>> {
        let exit = self.exit();
        Box::pin(async move { exit })
    }

    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, StopReport> {
        let word = format!("stop {}", self.label);
        self.journal.lock().unwrap().push(word);
        let stubborn = self.script.stubborn;
        let exit = self.exit().unwrap_or_default();
        Box::pin(async move {
            let took = if stubborn {
                grace
            } else {
                Duration::from_millis(100)
            };
            tokio::time::sleep(took).await;
            StopReport {
                graceful: !stubborn,
                took,
                exit,
                killed: stubborn,
            }
        })
    }

    fn logs(&self) -> String {
        match self.is_probe {
            true => self.script.probe.to_owned(),
            false => "listening on port 8080, GET /bakeoff-canary-path".to_owned(),
        }
    }

    fn log_path(&self) -> &Path {
        Path::new("fake.log")
    }
}

struct FakeClient(Script, Journal);

impl Client for FakeClient {
    fn ask<'a>(
        &'a self,
        _: &'a Destination,
        check: &'a Check,
    ) -> BoxFuture<'a, Result<ReceivedResponse, Problem>> {
        let metrics = self.0.metrics;
        let is_asked = check.path == "/metrics";
        if is_asked {
            self.1.lock().unwrap().push("GET /metrics".to_owned());
        }
        let answer = ReceivedResponse {
            status: match is_asked && metrics.is_empty() {
                true => 404,
                false => self.0.status,
            },
            body: metrics.as_bytes().to_vec(),
            ..ReceivedResponse::default()
        };
        Box::pin(async move {
            if is_asked && metrics == "hangs" {
                std::future::pending::<()>().await;
            }
            Ok(answer)
        })
    }
}

/// Plays each step as one slice of the step's duration, and a step in turns as slices of the asked
/// length with two blocks in each.
pub(super) struct FakeGenerator(Script, Journal);

pub(super) struct FakeLoad {
    script: Script,
    steps: Vec<Vec<LoadEvent>>,
    events: VecDeque<LoadEvent>,
    /// How often the load got the command to go on.
    gone_on: usize,
    /// The targets that may not be loaded any more.
    left: Vec<u32>,
    /// Steps that were started.
    begun: usize,
    /// Turns of the second contender.
    turns: u64,
    /// When the step ended that was played last.
    at_ns: u64,
    /// When the slice ended that was played last.
    end_ns: u64,
}

#[async_trait(?Send)]
impl LoadGenerator for FakeGenerator {
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>> {
        let sides = spec.side_count();
        let word = format!("load {sides}");
        self.1.lock().unwrap().push(word);
        let mut steps = Vec::new();
        for (step, planned) in spec.steps.iter().enumerate() {
            let in_turns = planned.turns.is_some();
            let is_closed = planned.pace == Pace::Closed;
            assert_eq!(in_turns, sides > 1 && is_closed, "closed load is in turns");
            let asked = planned.connections;
            let connections = Connections {
                asked,
                established: asked,
                in_flight_max: asked,
                reconnects: 0,
                on_arrival: false,
            };
            let (reactor, nofile) = ("fake".to_owned(), 1024);
            let ready = LoadEvent::Ready {
                step,
                connections,
                reactor,
                nofile,
                streams: 0,
                failure: None,
                further: vec![connections; sides - 1],
            };
            let mut interval = slice(step, connections, planned.duration_ns);
            interval.side = planned.side;
            if let Pace::Constant { rate_per_s } | Pace::Poisson { rate_per_s } = planned.pace {
                let is_fast = rate_per_s <= CAPACITY;
                let mut response_time = Histogram::new();
                response_time.record(if is_fast { 1_000_000 } else { 900_000_000 });
                interval.response_time = Some(response_time);
                interval.offered = Some(1);
            }
            let slices = match in_turns {
                true => slices_in_turns(&interval, planned.duration_ns, spec),
                false => vec![interval],
            };
            let slices = slices.into_iter().map(Box::new).map(LoadEvent::Interval);
            let mut events = vec![ready];
            events.extend(slices);
            events.push(LoadEvent::StepDone { step, fleet: None });
            steps.push(events);
        }
        let mut events: VecDeque<LoadEvent> = steps.iter().flatten().cloned().collect();
        events.push_back(LoadEvent::Done);
        Ok(Box::new(FakeLoad {
            script: self.0,
            steps,
            events,
            gone_on: 0,
            left: Vec::new(),
            begun: 0,
            turns: 0,
            at_ns: 0,
            end_ns: 0,
        }))
    }
}

#[async_trait(?Send)]
impl RunningLoad for FakeLoad {
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>> {
        let is_slice = matches!(self.events.front(), Some(LoadEvent::Interval(_)));
        if is_slice && self.script.failing_tool == "load generator" {
            return Err(anyhow::anyhow!("it ended before its load did"));
        }
        if is_slice && self.script.silent_load && self.left.is_empty() {
            std::future::pending::<()>().await;
        }
        let mut event = self.events.pop_front();
        match &mut event {
            Some(LoadEvent::Ready { .. }) => {
                let before = 2 * self.begun;
                assert_eq!(self.gone_on, before, "between steps it waits as well");
                self.begun += 1;
            }
            Some(LoadEvent::Interval(slice)) => {
                slice.start_ns += self.at_ns;
                slice.end_ns += self.at_ns;
                self.end_ns = slice.end_ns;
                if slice.turns.is_empty() || slice.side == 1 {
                    slice.requests += self.script.faster * (self.begun as u64 - 1);
                    for turn in &mut slice.turns {
                        self.turns += 1;
                        turn.requests += self.script.faster * self.turns;
                    }
                }
            }
            Some(LoadEvent::StepDone { .. }) => self.at_ns = self.end_ns,
            _ => {}
        }
        Ok(event)
    }

    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()> {
        // The program ends by itself when it has written the end of its last step.
        let has_slices = self
            .events
            .iter()
            .any(|event| matches!(event, LoadEvent::Interval(_)));
        anyhow::ensure!(has_slices || command == StepCommand::Again, "it has ended");
        match command {
            StepCommand::Leave(side) => {
                self.left.push(side);
                return Ok(());
            }
            StepCommand::Again => self.repeat_step(),
            StepCommand::Go | StepCommand::GoAt(_) => {}
        }
        self.gone_on += 1;
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    }
}

impl FakeLoad {
    fn repeat_step(&mut self) {
        let next = self.events.iter().find_map(|event| match event {
            LoadEvent::Ready { step, .. } => Some(*step),
            _ => None,
        });
        let last = next.unwrap() - 1;
        for event in self.steps[last].iter().rev() {
            self.events.push_front(event.clone());
        }
    }
}

/// The slices of a step in turns as one load generator reports them: each slice of all targets,
/// then the next one. A target has one request in each of its turns.
fn slices_in_turns(like: &LoadInterval, duration_ns: u64, spec: &LoadSpec) -> Vec<LoadInterval> {
    const BLOCKS: u64 = 2;
    let sides = spec.side_count() as u64;
    let (slices, length_us) = (
        duration_ns.div_ceil(spec.slice_ns),
        spec.slice_ns / 1000 / BLOCKS / sides,
    );
    let turn = |slice: u64, side: u64, block: u64| {
        let block = slice * BLOCKS + block;
        TurnCount {
            block,
            start_us: (block * sides + side) * length_us,
            length_us,
            requests: 1,
            ..TurnCount::default()
        }
    };
    let mut made = Vec::new();
    for slice in 0..slices {
        for side in 0..sides {
            made.push(LoadInterval {
                slice: u32::try_from(slice).unwrap(),
                side: u32::try_from(side).unwrap(),
                start_ns: slice * spec.slice_ns,
                end_ns: (slice + 1) * spec.slice_ns,
                requests: BLOCKS,
                turns: (0..BLOCKS).map(|block| turn(slice, side, block)).collect(),
                ..like.clone()
            });
        }
    }
    made
}

fn slice(step: usize, connections: Connections, duration_ns: u64) -> LoadInterval {
    let mut service_time = Histogram::new();
    service_time.record(1_000_000);
    LoadInterval {
        step,
        end_ns: duration_ns,
        requests: 1,
        service_time,
        connections,
        turnaround_ns: Some(0),
        connecting_ns: Some(0),
        generator_threads: 1,
        ..LoadInterval::default()
    }
}

/// The highest rate at which every fake contender responds fast, requests per second.
pub(super) const CAPACITY: f64 = 2.5;

/// The capacity that searches before a later repetition found: a little less than the truth.
fn found_before(run: &PlannedRun) -> anyhow::Result<Vec<CapacityRecord>> {
    let found = |slo: &Slo| CapacityRecord {
        slo: slo.clone(),
        ended: SearchEnd::Narrow,
        capacity: Some(CapacityRange {
            rate_per_s: 2.4,
            low_per_s: 2.3,
            high_per_s: 2.5,
        }),
        last_before_failure_per_s: None,
        trials: 9,
        disturbance: None,
    };
    let slos = run.capacity.iter().flat_map(|capacity| &capacity.slos);
    Ok(slos.filter(|_| run.repetition > 1).map(found).collect())
}

/// A backend with databases that gives these replies to queries, one after the other.
#[derive(Default)]
pub(super) struct FakeBackend {
    found: Mutex<VecDeque<Result<String, Problem>>>,
    ended: Option<Problem>,
    /// The journal that notes the backend's end.
    journal: Option<Journal>,
}

impl FakeBackend {
    pub(super) fn finding(answers: &[Result<&str, &str>]) -> Services {
        let owned = |answer: &Result<&str, &str>| answer.map(str::to_owned).map_err(Problem::from);
        Services::of_backend(Box::new(Self {
            found: Mutex::new(answers.iter().map(owned).collect()),
            ..Self::default()
        }))
    }

    /// One that has ended.
    pub(super) fn ended(why: &str) -> Services {
        Services::of_backend(Box::new(Self {
            ended: Some(why.into()),
            ..Self::default()
        }))
    }
}

impl Service for FakeBackend {
    fn address(&self) -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 5432))
    }

    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(async { ResourceSample::default() })
    }

    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(async { self.ended.clone() })
    }

    fn query<'a>(&'a self, _: &'a str, _: &'a str) -> BoxFuture<'a, Result<String, Problem>> {
        let answer = self.found.lock().unwrap().pop_front();
        Box::pin(async move { answer.expect("as many answers as the test expects") })
    }

    fn stop(&mut self) -> BoxFuture<'_, StopReport> {
        if let Some(journal) = &self.journal {
            journal.lock().unwrap().push("stop backend".to_owned());
        }
        Box::pin(async {
            StopReport {
                graceful: true,
                took: Duration::ZERO,
                exit: ExitInfo::default(),
                killed: false,
            }
        })
    }
}

/// Installs nothing, and starts fake backends.
pub(super) struct FakeHost(Journal);

#[async_trait(?Send)]
impl Installer for FakeHost {
    async fn install(
        &self,
        _suite: &str,
        contender: &Contender,
        built: Built,
        _jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        Ok(Ready {
            built,
            command: contender.run.clone(),
            probes: Vec::new(),
            workdir: PathBuf::new(),
            image: None,
            image_digest: None,
            artifact_bytes: None,
        })
    }
}

#[async_trait(?Send)]
impl ServiceHost for FakeHost {
    fn check(&self, wanted: &Dependency) -> anyhow::Result<()> {
        match &wanted.image {
            Some(image) => anyhow::bail!("{image} cannot be started here"),
            None => Ok(()),
        }
    }

    async fn start(
        &self,
        wanted: &WantedService<'_>,
        _setting: &Setting<'_>,
        _known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Box<dyn Service>> {
        anyhow::ensure!(wanted.name() != "broken", "it is broken");
        Ok(Box::new(FakeBackend {
            journal: Some(Arc::clone(&self.0)),
            ..FakeBackend::default()
        }))
    }
}

struct FakeCases {
    backend: BackendName,
    has_probe: bool,
}

impl Cases for FakeCases {
    fn case(&self, pending: &PendingRun) -> Case {
        let mut case = case(pending);
        case.begin.backend = self.backend;
        if let (true, Ok(start)) = (self.has_probe, &case.start) {
            case.probes.push(ReadyProbe {
                name: "hashing".to_owned(),
                request: "store".to_owned(),
                operations: 10,
                start: StartSpec {
                    command: vec!["probe".to_owned()],
                    ..start.clone()
                },
            });
        }
        case
    }
}

pub(crate) fn case(pending: &PendingRun) -> Case {
    let begin = Begin {
        format: bakeoff_model::record::FORMAT,
        run: pending.run.clone(),
        attempt: pending.attempt,
        suite: "fake".to_owned(),
        suite_digest: String::new(),
        profile: "fake".to_owned(),
        runtime: RuntimeKind::Process,
        backend: BackendName::None,
        backend_settings: ReplaySettings::default(),
        backend_at: None,
        at: "now".to_owned(),
        sitting: None,
        describe: String::new(),
        language: String::new(),
        note: None,
        baseline: None,
        version: None,
        artifact_digest: None,
        enforcement: Enforcement::CgroupV2,
        traffic_path: TrafficPath::Loopback,
        cores: Cores::default(),
        nodes: None,
        host: Host::default(),
        not_recorded: Vec::new(),
    };
    let start = StartSpec {
        label: pending.run.contender.clone(),
        arguments: Vec::new(),
        command: Vec::new(),
        env: BTreeMap::from([("BACKEND".to_owned(), "live".to_owned())]),
        workdir: "/".into(),
        limits: Limits::default(),
        cores: Vec::new(),
        port: 8080,
        ready_path: "/".to_owned(),
        start_timeout: Duration::from_secs(15),
        image: None,
        service: None,
        container: ContainerOptions::default(),
        wire: bakeoff_places::Wire::default(),
        log_path: "fake.log".into(),
    };
    let slice = Duration::from_secs(1);
    Case {
        begin,
        start: Ok(start),
        requests: vec![RequestSpec {
            name: Some("store".to_owned()),
            ..RequestSpec::default()
        }],
        scenario: None,
        slice,
        seed: 0,
        artifact_bytes: Some(1_048_576),
        gc_log: None,
        probes: Vec::new(),
    }
}

pub(super) fn locked(folder: &Path) -> LockedFolder {
    LockedFolder::make(folder).unwrap()
}

pub(crate) fn suite() -> Suite {
    let check = Check {
        group: "get".to_owned(),
        name: "found".to_owned(),
        method: "GET".to_owned(),
        path: "/".to_owned(),
        headers: Vec::new(),
        body: Body::default(),
        expect: Expect {
            status: vec![200],
            ..Expect::default()
        },
    };
    Suite {
        name: "fake".to_owned(),
        analysis: String::new(),
        port: 8080,
        env: BTreeMap::from([("BACKEND".to_owned(), "live".to_owned())]),
        env_unreachable: BTreeMap::from([("BACKEND".to_owned(), "dead".to_owned())]),
        ready_path: "/".to_owned(),
        tls: None,
        grpc: None,
        metrics: None,
        response_timeout: Suite::RESPONSE_TIMEOUT,
        logs_requests: true,
        log_lines_min: None,
        lifecycle: true,
        backends: Vec::new(),
        dependencies: Vec::new(),
        default_backend: BackendName::None,
        profiles: BTreeMap::new(),
        checks: vec![check],
        benchmarks: Vec::new(),
        rounds: Vec::new(),
        contenders: Vec::new(),
        published: None,
        digest: String::new(),
    }
}

pub(crate) fn pending(id: &str, lifecycle: bool) -> PendingRun {
    let step = |connections| Step {
        connections,
        duration: Duration::from_secs(1),
        pace: Pace::Closed,
        warm_up: connections == 1,
        at_least: None,
    };
    PendingRun {
        run: PlannedRun {
            id: id.to_owned(),
            order: 0,
            repetition: 1,
            benchmark: "one".to_owned(),
            kind: RunKind::Load,
            contender: "fake".to_owned(),
            parameters: Parameters::default(),
            twin: false,
            limits: Limits::default(),
            steps: vec![step(1), step(8)],
            step_order: Vec::new(),
            in_turns: false,
            group: None,
            turn_ns: None,
            latency: None,
            capacity: None,
            transport: Transport::default(),
            work: Work::default(),
            lifecycle,
            expected: Duration::from_secs(2),
        },
        attempt: 1,
    }
}

/// Writes events down as short words.
#[derive(Default)]
pub(super) struct Log {
    pub(super) words: Vec<String>,
    /// Fails at this event, counted from 1; 0 = never.
    pub(super) fails_at: usize,
    /// The slices that were recorded.
    pub(super) slices: Vec<IntervalRecord>,
    /// The contender's own metrics that were recorded.
    pub(super) metrics: Vec<MetricsRecord>,
    /// The notes at the ends of runs.
    pub(super) notes: Vec<String>,
    /// The words, between what was done to contenders.
    pub(super) journal: Journal,
}

impl Observer for Log {
    fn observe(&mut self, event: &Event) -> anyhow::Result<()> {
        self.words.push(word(event));
        if let Event::Recorded { record, .. } = event {
            match record.as_ref() {
                Record::Interval(slice) => self.slices.push(slice.as_ref().clone()),
                Record::Metrics(metrics) => self.metrics.push(metrics.clone()),
                Record::End(end) => self.notes.extend(end.notes.clone()),
                _ => {}
            }
        }
        self.journal.lock().unwrap().push(word(event));
        if self.words.len() == self.fails_at {
            anyhow::bail!("no space left on device");
        }
        Ok(())
    }
}

fn word(event: &Event) -> String {
    match event {
        Event::RunBegan { run, .. } => format!("run {}", run.id),
        Event::StageBegan { stage, .. } => format!("stage {stage}"),
        Event::StepBegan { connections, .. } => format!("step {connections}"),
        Event::Recorded { run, record } => match record.as_ref() {
            Record::Begin(_) => "begin".to_owned(),
            Record::Started(_) => "started".to_owned(),
            Record::Probe(probe) => format!("probe {} {}", probe.name, probe.cpu_ns),
            Record::Check(check) => {
                let outcome = match &check.outcome {
                    CheckOutcome::Good => "good",
                    CheckOutcome::NotApplicable { reason } => reason,
                    CheckOutcome::Bad { .. } | CheckOutcome::ConnErr { .. } => "bad",
                };
                format!("{outcome} {}", check.name)
            }
            Record::Idle(idle) => format!("idle {}", idle.moment),
            Record::Interval(interval) => {
                let warm = match interval.warmth {
                    None => String::new(),
                    Some(_) => format!(", {}", interval.validity),
                };
                match interval.others {
                    None => format!("interval {}{warm}", interval.connections),
                    Some(others) => {
                        let (step, slice) = (interval.load.step, interval.load.slice);
                        format!(
                            "turns {step}.{slice} of {run} beside {}{warm}",
                            others.requests
                        )
                    }
                }
            }
            Record::Fleet(fleet) => format!("fleet of {}", fleet.receipt.parts.len()),
            Record::Metrics(metrics) => match &metrics.problem {
                None => format!("{} series of step {}", metrics.series.len(), metrics.step),
                Some(problem) => problem.clone(),
            },
            Record::Trial(trial) => {
                let outcome = trial.verdicts[0].outcome;
                let (step, purpose, rate) = (trial.step, trial.purpose, trial.rate_per_s);
                format!("{purpose} {step} {rate:.2} {outcome}")
            }
            Record::Capacity(found) => match found.capacity {
                None => format!("{}", found.ended),
                Some(range) => format!("{} {:.2}", found.ended, range.rate_per_s),
            },
            Record::End(end) => match &end.outcome {
                Outcome::Completed => "completed".to_owned(),
                Outcome::Failed(failure) => format!("failed {failure}"),
                Outcome::Interrupted => "interrupted".to_owned(),
            },
        },
        Event::RunsDecided { decision, runs, .. } => {
            format!("decided {}, {runs} left", decision.runs)
        }
        other => format!("{other:?}"),
    }
}

pub(super) async fn play(script: Script, runs: &[PendingRun], log: &mut Log) -> anyhow::Result<()> {
    play_suite(&suite(), script, runs, log).await
}

pub(super) async fn play_suite(
    suite: &Suite,
    script: Script,
    runs: &[PendingRun],
    log: &mut Log,
) -> anyhow::Result<()> {
    play_on(None, suite, script, runs, log).await
}

/// Plays runs on a PostgreSQL, or without backend.
pub(super) async fn play_on(
    backend: Option<&Services>,
    suite: &Suite,
    script: Script,
    runs: &[PendingRun],
    log: &mut Log,
) -> anyhow::Result<()> {
    let name = match backend {
        Some(_) => BackendName::Postgres,
        None => BackendName::None,
    };
    let fakes = Fakes::new(script, name, &log.journal);
    let driver = fakes.driver(suite, backend);
    driver.play(runs, log).await
}

/// Everything fake that a driver works with.
pub(super) struct Fakes {
    place: Place,
    nothing: Services,
    cases: FakeCases,
}

/// A place that starts nothing for real.
pub(crate) fn place(script: Script, journal: &Journal) -> Place {
    let runtime = Arc::new(FakeRuntime(script, Arc::clone(journal)));
    let fake = || FakeHost(Arc::clone(journal));
    let here = Arc::new(process_runtime().unwrap());
    let mut place = Place::from_here(runtime, fake(), fake(), here).unwrap();
    place.generator = Box::new(FakeGenerator(script, Arc::clone(journal)));
    place.client = Box::new(FakeClient(script, Arc::clone(journal)));
    place.host_cores = 8;
    place
}

impl Fakes {
    pub(super) fn new(script: Script, backend: BackendName, journal: &Journal) -> Self {
        Self {
            place: place(script, journal),
            nothing: Services::default(),
            cases: FakeCases {
                backend,
                has_probe: !script.probe.is_empty(),
            },
        }
    }

    pub(super) fn driver<'a>(
        &'a self,
        suite: &'a Suite,
        backend: Option<&'a Services>,
    ) -> Driver<'a> {
        Driver {
            parts: SessionDeps {
                suite,
                place: &self.place,
                services: backend.unwrap_or(&self.nothing),
            },
            cases: &self.cases,
            now: || "now".to_owned(),
            former: &found_before,
            sitting: None,
        }
    }
}

pub(crate) const GOOD: Script = Script {
    exits_at_once: false,
    status: 200,
    killed_after_samples: 0,
    stubborn: false,
    victim: "",
    faster: 0,
    failing_tool: "",
    probe: "",
    silent_load: false,
    metrics: "",
};
