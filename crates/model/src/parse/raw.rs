//! The files as people write them, for this module's siblings only. These types are the single
//! source of the JSON Schemas in `docs/schema/` and of what [`super::shape`] accepts.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::grpc::GrpcTable;
use super::metrics::MetricsTable;
use super::raw_contender::MatrixValues;
use super::raw_dependency::DependencyTable;
use super::raw_request::{BodyValue, HeadersTable};
use super::raw_scenario::{ExtractTable, ScenarioTable};
use super::runs::RunsValue;
use super::tls::TlsTable;
use super::transport::TransportTable;
use super::warm_up::WarmUpTable;
use crate::request::check::Expect;
use crate::suite::capacity::{Arrivals, Rates};
use crate::suite::{StepOrder, WinnerRule};
use crate::text::units::{DurationText, SizeText};

/// `suite.toml`: environment, backends, dependencies, profiles, benchmarks and rounds.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SuiteFile {
    /// The name of the suite, and what all its contenders share.
    pub suite: SuiteTable,
    /// Environment of every contender. `{backend.host}` and `{backend.port}` stand for the
    /// backend's address, `{backend.database}` for the contender's own database in it, and
    /// `{backend.user}` and `{backend.password}` for its login; `{dependency.NAME.host}` and
    /// `{dependency.NAME.port}` stand for the address of a dependency.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Replaces `env` in the check "does not start with an unreachable backend".
    #[serde(default)]
    pub env_unreachable: BTreeMap<String, String>,
    /// Metrics that contenders count themselves; they are not read unless given.
    pub metrics: Option<MetricsTable>,
    /// The backends that the contenders call, of which a session has one.
    #[serde(default)]
    pub backend: Vec<BackendTable>,
    /// Programs and containers that the contenders call too; a session has all of them.
    #[serde(default)]
    pub dependency: Vec<DependencyTable>,
    /// How much is measured and under which limits, by name.
    #[schemars(extend("minProperties" = 1))]
    pub profile: BTreeMap<String, ProfileTable>,
    /// The workloads.
    #[schemars(length(min = 1))]
    pub benchmark: Vec<BenchmarkTable>,
    /// Qualification and main rounds.
    #[serde(default)]
    pub round: Vec<RoundTable>,
}

/// The name of the suite, and what all its contenders share.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SuiteTable {
    /// The name of the suite's folder.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// Why these workloads exist and how to read them; Markdown.
    #[serde(default)]
    pub analysis: String,
    /// The port on which every contender listens.
    #[schemars(range(min = 1))]
    pub port: u16,
    /// The path requested until the first valid response (200, 404 or a redirect) comes.
    #[serde(default = "slash")]
    #[schemars(extend("x-text" = "path"))]
    pub ready_path: String,
    /// Contenders speak TLS on their port; they speak plain HTTP unless given.
    pub tls: Option<TlsTable>,
    /// Contenders speak gRPC: paths of requests and checks are those of methods, bodies are
    /// messages as JSON. They speak plain HTTP unless given.
    pub grpc: Option<GrpcTable>,
    /// How long connecting and each response may take under load; `15s` unless given.
    pub response_timeout: Option<DurationText>,
    /// Whether contenders log each request; if not, the check "logs each request" is not
    /// applicable.
    #[serde(default = "yes")]
    pub logs_requests: bool,
    /// Lines of its log that a contender writes for each successful request at least; one that
    /// writes fewer is not ranked. Not looked at unless given.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub log_lines_min: Option<f64>,
    /// Whether contenders are checked for how they start and log, and how many threads they have,
    /// which takes separate instances; `true` unless given.
    #[serde(default = "yes")]
    pub lifecycle: bool,
    /// The backend used when none is chosen; the first one unless given.
    pub default_backend: Option<String>,
}

/// One backend.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BackendTable {
    /// Which backend.
    pub name: BackendName,
    /// The folder of its data or recordings, relative to the suite.
    pub data: Option<String>,
    /// Settings of the backend.
    #[serde(default)]
    pub settings: BackendSettings,
    /// Rows that must be in a contender's database after a run; `postgres` only.
    #[serde(default)]
    pub rows: Vec<RowsTable>,
}

/// Each successful request of a name adds one to what a query finds.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RowsTable {
    /// The name of the request.
    #[schemars(length(min = 1))]
    pub request: String,
    /// A query whose result is one whole number.
    #[schemars(length(min = 1))]
    pub query: String,
}

/// The backends that a suite can list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BackendName {
    /// A real Elasticsearch.
    Elasticsearch,
    /// A real PostgreSQL.
    Postgres,
    /// Recorded exchanges of a real one, replayed from memory.
    Replay,
}

impl From<BackendName> for crate::suite::conditions::BackendName {
    fn from(name: BackendName) -> Self {
        match name {
            BackendName::Elasticsearch => Self::Elasticsearch,
            BackendName::Postgres => Self::Postgres,
            BackendName::Replay => Self::Replay,
        }
    }
}

/// The settings of a backend.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BackendSettings {
    /// How long the replay backend holds its responses back: `none` (unless given), `recorded`,
    /// `constant:TIME`, `exponential:MEAN` or `log-normal:MEDIAN,SIGMA`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// Whether the replay backend compresses responses for clients that accept gzip;
    /// `false` unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gzip: Option<bool>,
    /// Requests that the replay backend works on at a time; further ones get a 429.
    /// Unlimited unless given.
    #[schemars(range(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<u32>,
}

/// How much is measured and under which limits.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileTable {
    /// Purpose of the profile.
    #[serde(default)]
    pub describe: String,
    /// Limits of the contender; what is absent is not limited.
    #[serde(default)]
    pub limits: LimitsTable,
    /// CPU quotas in cores, instead of that in `limits`: each contender is measured with each of
    /// them.
    #[serde(default)]
    pub cpus: Vec<Quota>,
    /// Repetitions: a number, or a table that says which difference they must find.
    pub runs: RunsValue,
    /// The length of a recorded slice; `1s` unless given.
    pub slice: Option<DurationText>,
    /// Repeat the slow lifecycle checks in each run instead of the first one of each contender.
    #[serde(default)]
    pub lifecycle_every_run: bool,
    /// The value of `{jvm-options}`; `-XX:MaxRAMPercentage=75` unless given.
    pub jvm_options: Option<Vec<String>>,
    /// How long a contender may take until its first valid response; `15s` unless given.
    pub start_timeout: Option<DurationText>,
    /// Steps of closed load, one for each number of connections.
    pub ladder: Option<LadderTable>,
    /// Steps one by one, instead of `ladder`.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub step: Vec<StepTable>,
    /// Whether each of two contenders that take turns has two processes in every set, which share
    /// its time; of more contenders, and in whole runs, one has two. The two processes of one
    /// contender differ only by chance, which shows the noise and whether the session can be
    /// trusted [default: `true` if `runs` is 5 or more, or may become so].
    pub control: Option<bool>,
    /// The profile's steps also replace those of benchmarks that define steps.
    #[serde(default)]
    pub replaces_steps: bool,
    /// Contenders are measured one after the other even if they could take turns.
    #[serde(default)]
    pub whole_runs: bool,
    /// The length of every turn, for sessions that show what it changes; it follows the contenders
    /// unless given.
    pub turn: Option<DurationText>,
    /// Whether response times of contenders that take turns are compared, in open load at one rate
    /// after the turns; `true` unless given.
    pub latency: Option<bool>,
    /// How long the last warm-up step before the measured ones takes; as long as it says unless
    /// given.
    pub warm_up: Option<WarmUpTable>,
}

/// A CPU quota in cores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline, extend("exclusiveMinimum" = 0))]
pub struct Quota(pub f64);

/// Limits of the contender.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LimitsTable {
    /// CPU quota in cores: CPU seconds per second, on any core.
    #[schemars(extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// Memory with swap off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<SizeText>,
}

/// Closed-load steps, one for each number of connections, all equally long.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct LadderTable {
    /// Connections of the warm-up steps, which come first.
    #[serde(default)]
    #[schemars(inner(range(min = 1)))]
    pub warm_up: Vec<u32>,
    /// Connections of the measured steps.
    #[schemars(length(min = 1), inner(range(min = 1)))]
    pub connections: Vec<u32>,
    /// The length of each step.
    pub step: DurationText,
    /// In which order the measured steps are played; `random` unless given.
    #[serde(default = "StepOrder::of_ladders")]
    pub order: StepOrder,
}

/// One step.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct StepTable {
    /// Connections held open.
    #[schemars(range(min = 1))]
    pub connections: u32,
    /// How long.
    pub duration: DurationText,
    /// How sends are paced; `closed` unless given.
    #[serde(default)]
    pub pace: PaceName,
    /// Requests per second over all connections; at the start of a ramp.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rate: Option<f64>,
    /// Requests per second at the end of a ramp.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub rate_end: Option<f64>,
    /// Time within which the users of a scenario arrive, all at once unless given; `users` only.
    pub arrive: Option<DurationText>,
    /// How often each user goes through the scenario, 1 unless given; `users` only.
    #[schemars(range(min = 1))]
    pub times: Option<u32>,
    /// Recorded, marked as warm-up and left out of comparisons.
    #[serde(default)]
    pub warm_up: bool,
}

/// How sends are paced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PaceName {
    /// As soon as the connection is free again.
    #[default]
    Closed,
    /// At equal distances.
    Constant,
    /// With exponential distances.
    Poisson,
    /// At a rate that changes linearly over the step.
    Ramp,
    /// As the users of a scenario arrive and go on; the step ends when all are done.
    Users,
}

/// A workload with a load model, cold starts, or a search for a capacity.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct BenchmarkTable {
    /// Name of the benchmark.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// Purpose of the benchmark.
    #[serde(default)]
    pub describe: String,
    /// The kind of measurement; `load` unless given.
    #[serde(default)]
    pub kind: KindName,
    /// Cold starts of each contender, `startup` only; 20 unless given.
    #[schemars(range(min = 1))]
    pub starts: Option<u32>,
    /// The service level objectives, `capacity` only: bounds of response time percentiles and of
    /// errors, joined by `and`. Each entry has its own capacity.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub slo: Vec<String>,
    /// Between which rates a capacity is looked for; by what a closed load gets unless given.
    pub rates: Option<Rates>,
    /// Distances between the requests of a trial, `capacity` only; `constant` unless given.
    pub arrivals: Option<Arrivals>,
    /// Connections of each trial, `capacity` only; 64 unless given.
    #[schemars(range(min = 1))]
    pub connections: Option<u32>,
    /// The length of a trial, `capacity` only; `5s` unless given.
    pub trial: Option<DurationText>,
    /// Trials of a search at most; 20 unless given.
    #[schemars(range(min = 6))]
    pub trials_at_most: Option<u32>,
    /// How far the interval of a search may reach from its middle; `3%` unless given.
    pub within: Option<String>,
    /// The requests; each connection goes through them in turn. Needed for `load` and `capacity`.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub request: Vec<RequestTable>,
    /// Makes the requests a scenario.
    pub scenario: Option<ScenarioTable>,
    /// How the requests travel; HTTP/1.1 with keep-alive, one after the other, unless given.
    pub transport: Option<TransportTable>,
    /// Requests to the backend that each successful request takes at least; numbers of a contender
    /// that makes fewer are invalid. Not looked at unless given.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub backend_requests_min: Option<f64>,
    /// Parts of the work of its requests that contenders can do alone.
    #[serde(default)]
    pub probe: Vec<ProbedTable>,
    /// The benchmark's own steps, used in profiles that have none.
    pub ladder: Option<LadderTable>,
    /// The benchmark's own steps one by one, instead of `ladder`.
    #[serde(default)]
    #[schemars(length(min = 1))]
    pub step: Vec<StepTable>,
}

/// Each successful request of a name does the work of a probe once.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProbedTable {
    /// A `[[probe]]` of contenders; those without it go without.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// The name of the request.
    #[schemars(length(min = 1))]
    pub request: String,
}

/// The kind of measurement of a benchmark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum KindName {
    /// How contenders bear a load.
    #[default]
    Load,
    /// How contenders start: cold starts, each of a fresh instance.
    Startup,
    /// The highest rate at which contenders meet objectives.
    Capacity,
}

/// A request of a benchmark.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RequestTable {
    /// The name in reports; method and path unless given.
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// The method; `GET` unless given.
    #[serde(default = "get")]
    #[schemars(extend("x-text" = "method"))]
    pub method: String,
    /// Path and query.
    #[schemars(extend("x-text" = "path"))]
    pub path: String,
    /// Headers besides `Content-Length`, in order; `Host` is the service's address unless given.
    #[serde(default)]
    pub headers: HeadersTable,
    /// The body: a text, or a table with bytes in base64.
    #[serde(default)]
    pub body: BodyValue,
    /// How many times the body is repeated, for large bodies; 1 unless given.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub body_repeat: u32,
    /// How often it is sent relative to the others; 1 unless given.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub weight: u32,
    /// The expected response; any 2xx or 3xx unless given.
    pub expect: Option<Expect>,
    /// Every response is as long as the first one, which is checked completely; `false` unless
    /// given.
    #[serde(default)]
    pub same_length: bool,
    /// The response is a stream of server-sent events, and complete with this many.
    #[schemars(range(min = 1))]
    pub events: Option<NonZeroU32>,
    /// How long a user waits after the response; scenarios only.
    pub pause: Option<DurationText>,
    /// Makes the pause random, from `pause` (nothing unless given) up to this; scenarios only.
    pub pause_up_to: Option<DurationText>,
    /// Variable -> where in the response it gets its value; scenarios only.
    #[serde(default)]
    pub extract: BTreeMap<String, ExtractTable>,
}

/// A round: some contenders on some benchmarks.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RoundTable {
    /// Name of the round.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// The question that the round answers.
    #[serde(default)]
    pub describe: String,
    /// A name that several rounds share: `--round GROUP` runs them all.
    #[schemars(extend("x-text" = "name"))]
    pub group: Option<String>,
    /// The profile, unless another one is asked for.
    pub profile: Option<String>,
    /// How long the replay backend holds its responses back, unless another delay is asked for.
    #[schemars(extend("x-text" = "delay"))]
    pub backend_delay: Option<String>,
    /// Contenders; `*` and `?` stand for any text and any character.
    #[serde(default)]
    pub contenders: Vec<String>,
    /// Values that parameters of these contenders take here; all of the matrix unless given.
    #[serde(default)]
    pub parameters: BTreeMap<String, MatrixValues>,
    /// Benchmarks; all unless given.
    #[serde(default = "all")]
    #[schemars(length(min = 1))]
    pub benchmarks: Vec<String>,
    /// The rule that picks the winner of a qualification round; absent in a main round.
    pub winner: Option<WinnerRule>,
    /// Connections at which the rule reads its metric.
    #[schemars(range(min = 1))]
    pub at: Option<u32>,
    /// Earlier qualification rounds whose winners join this one.
    #[serde(default)]
    pub winners_of: Vec<String>,
}

fn slash() -> String {
    "/".to_owned()
}

fn yes() -> bool {
    true
}

pub(super) fn get() -> String {
    "GET".to_owned()
}

pub(super) fn one() -> u32 {
    1
}

fn all() -> Vec<String> {
    vec!["*".to_owned()]
}
