//! A suite after parsing: everything checked, typed and resolved, variants expanded by name.

pub mod backend;
pub mod capacity;
pub mod cluster_settings;
pub mod conditions;
pub mod container;
pub mod delay;
pub mod dependency;
pub mod far_hosts;
pub mod limits;
pub mod metrics;
pub mod published;
pub mod run_count;
pub mod slo;
pub mod volume;
pub mod warmth;

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::tls::Tls;
use crate::load::transport::Transport;
use crate::load::{Protocol, RequestSpec};
use crate::request::Body;
use crate::request::check::Check;
use crate::request::scenario::Scenario;
use crate::text::names::UnknownName;
use crate::text::service_url::ServiceUrl;
use capacity::Capacity;
use conditions::BackendName;
use container::ContainerSettings;
use delay::Delay;
use dependency::Dependency;
use metrics::OwnMetrics;
use published::Published;
use run_count::Runs;
use volume::Volume;

pub use crate::load::step::Step;
pub use backend::{BackendSpec, ReplaySettings, Rows};
pub use limits::Limits;

/// A suite: what is asked of whom, and how it is measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Suite {
    /// Name of the suite and of its folder.
    pub name: String,
    /// Why these workloads exist and how to read them; Markdown.
    pub analysis: String,
    /// Port on which every contender listens.
    pub port: u16,
    /// Environment of every contender. `{backend.host}` and `{backend.port}` stand for the
    /// backend's address, `{backend.database}` for the contender's own database in it, and
    /// `{backend.user}` and `{backend.password}` for its login; `{dependency.NAME.host}` and
    /// `{dependency.NAME.port}` stand for the address of a dependency.
    pub env: BTreeMap<String, String>,
    /// Environment that points at an address without a backend, for the lifecycle check.
    pub env_unreachable: BTreeMap<String, String>,
    /// The path requested until the first valid response (200, 404 or a redirect) comes.
    pub ready_path: String,
    /// How contenders are reached over TLS; `None` if they speak plain HTTP.
    pub tls: Option<Tls>,
    /// The messages of contenders that speak gRPC; `None` if they speak plain HTTP.
    pub grpc: Option<Grpc>,
    /// The metrics that contenders count themselves; `None` if they are not read.
    pub metrics: Option<OwnMetrics>,
    /// How long connecting and each response may take under load.
    pub response_timeout: Duration,
    /// Whether contenders log each request, which a lifecycle check then demands.
    pub logs_requests: bool,
    /// Lines of its log that a contender writes for each successful request at least.
    pub log_lines_min: Option<f64>,
    /// Whether contenders are checked for how they start and log, and how many threads they have.
    pub lifecycle: bool,
    /// Backends by name; every suite may also run on `replay` when it has recordings.
    pub backends: Vec<BackendSpec>,
    /// Programs and containers that contenders call besides the backend, in the order of starts.
    pub dependencies: Vec<Dependency>,
    /// The backend used unless another is chosen.
    pub default_backend: BackendName,
    /// Profiles by name.
    pub profiles: BTreeMap<String, Profile>,
    /// Functional checks, in order.
    pub checks: Vec<Check>,
    /// The benchmarks.
    pub benchmarks: Vec<Benchmark>,
    /// Qualification and main rounds.
    pub rounds: Vec<Round>,
    /// The contenders, variants expanded (`http4k-3/undertow`), natural order.
    pub contenders: Vec<Contender>,
    /// Published results on the suite's workloads, if there are any.
    pub published: Option<Published>,
    /// SHA-256 over all files of the suite definition; results of other digests are not compared.
    pub digest: String,
}

/// The messages of a suite whose contenders speak gRPC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grpc {
    /// Files that describe them, relative to the suite: `.proto`, or sets of descriptors.
    pub files: Vec<String>,
    /// The set of descriptors (`google.protobuf.FileDescriptorSet`); empty before the files are
    /// read.
    pub descriptors: Body,
}

impl Suite {
    /// How long connecting and a response may take unless the suite says otherwise.
    pub const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);

    /// Whether contenders can run on this backend: the suite lists it, it has
    /// dependencies and nothing else is meant, or it is none.
    ///
    /// # Errors
    /// The backend is not the suite's; known are those that are.
    pub fn has_backend(&self, backend: BackendName) -> Result<(), UnknownName> {
        let mut known: Vec<BackendName> = self.backends.iter().map(|spec| spec.name).collect();
        known.extend((!self.dependencies.is_empty()).then_some(BackendName::Dependencies));
        known.push(BackendName::None);
        if known.contains(&backend) {
            return Ok(());
        }
        Err(UnknownName {
            kind: "backend",
            name: backend.to_string(),
            known: known.iter().map(ToString::to_string).collect(),
        })
    }

    /// How this backend of the suite responds.
    #[must_use]
    pub fn backend_settings(&self, backend: BackendName) -> ReplaySettings {
        let spec = self.backends.iter().find(|spec| spec.name == backend);
        spec.map(|spec| spec.settings).unwrap_or_default()
    }

    /// Lines of its log that a contender owes for each successful request of a benchmark, if a
    /// number is stated. WebSocket messages are not requests, and cold starts have none.
    #[must_use]
    pub fn log_lines_due(&self, contender: &Contender, benchmark: &Benchmark) -> Option<f64> {
        let messages = matches!(benchmark.transport.protocol, Protocol::Websocket(_));
        let has_requests = benchmark.kind == BenchmarkKind::Load && !messages;
        let lines = contender.log_lines_min.or(self.log_lines_min);
        lines.filter(|_| has_requests)
    }

    /// Lets the replay backend hold its responses back like this; `None` leaves it as it is.
    pub fn set_backend_delay(&mut self, delay: Option<Delay>) {
        let replay = |spec: &&mut BackendSpec| spec.name == BackendName::Replay;
        for spec in self.backends.iter_mut().filter(replay) {
            spec.settings.delay = delay.unwrap_or(spec.settings.delay);
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_true(value: &bool) -> bool {
    *value
}

fn yes() -> bool {
    true
}

/// Each successful request of this name does the work of a contender's probe once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbedRequest {
    /// Name of the probe, [`Probe::name`].
    pub probe: String,
    /// Name of the request, [`RequestSpec::label`].
    pub request: String,
}

/// A command that does a part of the work of requests and nothing else, and says what CPU time
/// that took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    /// The name of the part: `hashing`.
    pub name: String,
    /// The command, with the placeholders of [`Contender::run`] and `{operations}`.
    pub command: Vec<String>,
    /// How often it does the work: what `{operations}` stands for.
    pub operations: u32,
}

/// In which order the measured steps of a run are played.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StepOrder {
    /// The steps are played as they are listed.
    #[default]
    Listed,
    /// The order is random, the same one for all contenders of a repetition and another in each:
    /// the load is not confounded with the time since the start.
    Random,
}

impl StepOrder {
    /// The order of a ladder that states none.
    pub(crate) fn of_ladders() -> Self {
        Self::Random
    }

    /// Whether this is the order of steps that are listed one by one.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        *self == Self::Listed
    }
}

/// How much is measured and under which limits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Profile {
    /// Name of the profile.
    pub name: String,
    /// Purpose of the profile.
    pub describe: String,
    /// Limits of the contender; if there are several, the largest.
    pub limits: Limits,
    /// CPU quotas in cores; each contender is measured with each of them. Empty: that of
    /// `limits` alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<f64>,
    /// Repetitions.
    pub runs: Runs,
    /// The longest time for each run of a repetition, if the runs end once something is decided:
    /// two contenders of one benchmark have twice that for all runs of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within_each: Option<Duration>,
    /// The steps of benchmarks that do not define any.
    pub steps: Vec<Step>,
    /// In which order they are played.
    #[serde(default, skip_serializing_if = "StepOrder::is_listed")]
    pub step_order: StepOrder,
    /// Contenders are measured in whole runs, one after the other, even if they could be alive
    /// concurrently and take turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole_runs: bool,
    /// The length of every turn; absent: it follows the contenders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<Duration>,
    /// Response times of contenders that take turns are compared in open load after the turns.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub latency: bool,
    /// Two contenders that take turns have two processes each in every set; of more, or in whole
    /// runs, one case has two. What two processes of one case differ by is chance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub control: bool,
    /// The profile's steps also replace those of benchmarks that define steps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaces_steps: bool,
    /// Repeat the threads check and the other slow lifecycle checks in each run (`true`) or only
    /// in the first run of each contender.
    pub lifecycle_every_run: bool,
    /// Length of a recorded slice.
    pub slice: Duration,
    /// The value of `{jvm-options}` in the commands of contenders.
    pub jvm_options: Vec<String>,
    /// How long a contender may take from its start to its first valid response.
    pub start_timeout: Duration,
}

impl Profile {
    /// The start timeout unless the profile says another.
    pub const START_TIMEOUT: Duration = Duration::from_secs(60);

    /// The steps before a search for a capacity: the warm-up, then a closed load like its trials.
    #[must_use]
    pub fn steps_before(&self, capacity: &Capacity) -> Vec<Step> {
        let warm_up = self.steps.iter().filter(|step| step.warm_up).copied();
        warm_up.chain([capacity.closed_step()]).collect()
    }

    /// The steps of a benchmark of kind `load` under this profile. A benchmark with steps of its
    /// own means those: they are part of the workload. Only a
    /// profile that says so, one that is not for measuring, has others in their place.
    #[must_use]
    pub fn steps_of<'s>(&'s self, benchmark: &'s Benchmark) -> StepsOf<'s> {
        if benchmark.steps.is_empty() || self.replaces_steps {
            StepsOf {
                steps: &self.steps,
                order: self.step_order,
            }
        } else {
            StepsOf {
                steps: &benchmark.steps,
                order: benchmark.step_order,
            }
        }
    }
}

/// The steps of a benchmark under a profile.
#[derive(Debug, Clone, Copy)]
pub struct StepsOf<'s> {
    /// The steps.
    pub steps: &'s [Step],
    /// In which order they are played.
    pub order: StepOrder,
}

/// A workload with a load model, a number of cold starts, or a search for a capacity. The limits
/// come from the profile.
#[derive(Debug, Clone, PartialEq)]
pub struct Benchmark {
    /// Name of the benchmark.
    pub name: String,
    /// Purpose of the benchmark.
    pub describe: String,
    /// The kind of measurement.
    pub kind: BenchmarkKind,
    /// The capacity that is searched for; of kind `Capacity` only.
    pub capacity: Option<Capacity>,
    /// The requests.
    pub requests: Vec<RequestSpec>,
    /// Makes the requests a scenario.
    pub scenario: Option<Scenario>,
    /// How the requests travel.
    pub transport: Transport,
    /// Requests to the backend that each successful request takes at least.
    pub backend_requests_min: Option<f64>,
    /// Parts of the work of requests that contenders can do alone.
    pub probes: Vec<ProbedRequest>,
    /// The benchmark's own steps; those of the profile are used when there are none.
    pub steps: Vec<Step>,
    /// In which order they are played.
    pub step_order: StepOrder,
}

/// The kind of measurement of a benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BenchmarkKind {
    /// How contenders bear a load: requests and steps.
    Load,
    /// The highest rate at which contenders meet objectives: requests and trials.
    Capacity,
    /// How contenders start: nothing but cold starts, each of a fresh instance.
    Startup {
        /// How many of each case.
        starts: u32,
    },
}

/// A round: some contenders on some benchmarks; a qualification round picks a winner.
#[derive(Debug, Clone, PartialEq)]
pub struct Round {
    /// Name of the round.
    pub name: String,
    /// The question that the round answers.
    pub describe: String,
    /// A name that several rounds share, so that they can be run into one folder.
    pub group: Option<String>,
    /// The profile, unless another one is asked for.
    pub profile: Option<String>,
    /// How long the replay backend holds its responses back, unless another delay is asked for.
    pub backend_delay: Option<Delay>,
    /// Globs of contenders.
    pub contenders: Vec<String>,
    /// Parameter -> the values it takes here; parameters that are not named take all of theirs.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// Globs of benchmarks. The first one with load decides the winner.
    pub benchmarks: Vec<String>,
    /// The rule that picks the winner; `None` for a main round.
    pub winner: Option<Winner>,
    /// Earlier qualification rounds whose winners join this one.
    pub winners_of: Vec<String>,
}

/// The name that stands for every round on the command line.
pub const ALL_ROUNDS: &str = "all";

/// A rule that picks a winner, with the connections at which it reads its metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Winner {
    /// The rule.
    pub rule: WinnerRule,
    /// Connections at which its metric is read.
    pub at: Option<u32>,
}

impl Winner {
    /// The rule as a person says it: `lowest CPU per request at 64 connections`.
    #[must_use]
    pub fn describe(&self) -> String {
        let at = |otherwise: &str| match self.at {
            Some(1) => "at 1 connection".to_owned(),
            Some(at) => format!("at {at} connections"),
            None => otherwise.to_owned(),
        };
        match self.rule {
            WinnerRule::PeakThroughput => "highest throughput at its peak".to_owned(),
            WinnerRule::Throughput => format!("highest throughput {}", at("")),
            WinnerRule::CpuPerRequest => {
                format!("lowest CPU per request {}", at("at the stated step"))
            }
            WinnerRule::P99 => format!("lowest p99 {}", at("at the highest load")),
        }
    }
}

/// How a qualification round picks its winner. Where the runs do not separate the best, the one
/// with the lower CPU per request at the stated step wins, or, when CPU is the rule, the one
/// with the higher peak throughput.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum WinnerRule {
    /// Highest mean throughput at each contender's best step.
    PeakThroughput,
    /// Highest mean throughput at a number of connections.
    Throughput,
    /// Lowest CPU per request, at the stated step unless `at` says where.
    CpuPerRequest,
    /// Lowest 99th percentile, at the highest step unless `at` says where.
    P99,
}

/// A system under test, one variant of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Contender {
    /// Unique name in the suite: `actix-4` or `http4k-3/undertow`.
    pub name: String,
    /// Name of its folder below `contenders/`.
    pub folder: String,
    /// The variant, if it is one.
    pub variant: Option<String>,
    /// One line for a person.
    pub describe: String,
    /// Programming language, lower case.
    pub language: String,
    /// A caveat that the report shows next to the numbers.
    pub note: Option<String>,
    /// The contender of which reports state its numbers as a share; never itself.
    pub baseline: Option<String>,
    /// Lines of its log for each successful request at least, if the contender has its own number.
    pub log_lines_min: Option<f64>,
    /// Toolchains without which it cannot be built or run: `rust`, `maven`, `jdk-17`, `jdk-25`.
    pub needs: Vec<String>,
    /// Build command, run in a copy of its folder outside the clone.
    pub build: Vec<String>,
    /// Extra environment of the build.
    pub build_env: BTreeMap<String, String>,
    /// The artifact of the build, relative to that copy: a file or a folder. `None` if the command
    /// needs none.
    pub artifact: Option<String>,
    /// Command that starts it. `{artifact}` is the artifact's path, `{java}` the java of the wanted
    /// JDK, `{jvm-options}` the profile's JVM options. Empty if there is only an image or a URL.
    pub run: Vec<String>,
    /// Where the command starts, absolute or relative to the contender's folder [default: the
    /// copy].
    pub workdir: Option<String>,
    /// A service that runs already, for the runtime `external`.
    pub url: Option<ServiceUrl>,
    /// Command that prints a version receipt; same placeholders. Empty = none.
    pub version: Vec<String>,
    /// Parts of the work of its requests that it can do alone.
    pub probes: Vec<Probe>,
    /// The wanted JDK (11, 17, 25) of JVM contenders.
    pub jdk: Option<u32>,
    /// An image that is the service already, with its own entry point.
    pub image: Option<String>,
    /// Replaces that entry point. Empty = nothing.
    pub image_entrypoint: Vec<String>,
    /// Replaces the arguments of that entry point. Empty = nothing.
    pub image_arguments: Vec<String>,
    /// Files and folders of this host that a container of the image can read.
    pub image_volumes: Vec<Volume>,
    /// How a container of the image is started besides.
    pub container: ContainerSettings,
    /// Base image: `debian`, `scratch`, `jre-17`, `jre-25` or a registry image.
    pub image_base: String,
    /// The contender's own environment.
    pub env: BTreeMap<String, String>,
    /// Parameter name -> values; each combination is a case.
    pub matrix: BTreeMap<String, Vec<String>>,
    /// This is the contender as it was, built from the baseline of a session.
    pub is_base: bool,
}
