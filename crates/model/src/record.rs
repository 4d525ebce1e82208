//! Records of a session: a file of JSON Lines per run, one [`Record`] a line, synced as it happens.

pub mod failure;
mod host;
pub mod nodes;
pub mod sittings;
pub mod totals;
mod turns;
pub mod unmade;

use bakeoff_base::problem::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::{Connections, FleetRecord, LoadInterval};
use crate::measure::flame_graph::FlameGraph;
use crate::measure::resource::{GcLog, HostTime, ResourceSample};
use crate::plan::baseline::Baseline;
use crate::plan::{ChosenCase, PlannedRun};
use crate::request::check::CheckOutcome;
use crate::suite::capacity::{CapacityRecord, TrialRecord};
use crate::suite::conditions::{BackendName, Enforcement, RuntimeKind, TrafficPath};
use crate::suite::metrics::MetricsRecord;
use crate::suite::published::Published;
use crate::suite::run_count::RunsDecision;
use crate::suite::warmth::Warmth;
use crate::suite::{ReplaySettings, Winner};
use crate::text::text_enum::text_enum;
use crate::validity::{RequiredReading, Validity};
use failure::Failure;
use nodes::{Nodes, PodStart};

pub use host::{GeneratorCeiling, Host};
pub use turns::{Others, Unloaded};

/// Version of the record format.
pub const FORMAT: u32 = 2;

/// One line of a run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "kebab-case")]
#[expect(
    clippy::large_enum_variant,
    reason = "a record lives only until it is written or sorted into its run"
)]
pub enum Record {
    /// The first line: what is about to run, on what.
    Begin(Box<Begin>),
    /// The contender gave its first valid response.
    Started(Startup),
    /// A part of the work of requests was measured alone.
    Probe(ProbeRecord),
    /// A lifecycle or functional check ended.
    Check(CheckRecord),
    /// A reading of the resources outside the load: before it, after it.
    Idle(IdleRecord),
    /// A slice of a step.
    Interval(Box<IntervalRecord>),
    /// A measured step of several load generators ended.
    Fleet(FleetRecord),
    /// The contender's own metrics were read around a measured step.
    Metrics(MetricsRecord),
    /// A trial of a search for a capacity ended.
    Trial(TrialRecord),
    /// The result of a search for a capacity for one objective.
    Capacity(CapacityRecord),
    /// The last line.
    End(EndRecord),
}

/// The first line of a run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Begin {
    /// Version of the format, [`FORMAT`].
    pub format: u32,
    /// The run as planned.
    pub run: PlannedRun,
    /// Attempt at this run, from 1; later attempts follow interrupted ones.
    pub attempt: u32,
    /// The suite.
    pub suite: String,
    /// Digest of the suite definition.
    pub suite_digest: String,
    /// The profile.
    pub profile: String,
    /// The runtime of the contender.
    pub runtime: RuntimeKind,
    /// The backend.
    pub backend: BackendName,
    /// How the replay backend responded.
    #[serde(flatten)]
    pub backend_settings: ReplaySettings,
    /// `HOST:PORT` of a backend that bakeoff did not start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_at: Option<String>,
    /// Wall clock, RFC 3339 in UTC.
    pub at: String,
    /// When the sitting started in which it was measured, the same way: one program measures a
    /// sitting, and `--resume` starts another. Absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sitting: Option<String>,
    /// One line about the contender, for reports.
    pub describe: String,
    /// Language of the contender.
    pub language: String,
    /// Caveat that the report shows next to the numbers.
    pub note: Option<String>,
    /// The contender of which the report states its numbers as a share; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// Version receipt of the contender.
    pub version: Option<String>,
    /// Digest of its artifact or image.
    pub artifact_digest: Option<String>,
    /// How limits are enforced: `cgroup-v1`, `cgroup-v2`, `docker` or `unlimited: REASON`.
    #[schemars(with = "String")]
    pub enforcement: Enforcement,
    /// How the traffic travels.
    pub traffic_path: TrafficPath,
    /// Which cores each part may use.
    pub cores: Cores,
    /// Which part is on which node of a cluster, or on which of several hosts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Nodes>,
    /// The host; in a cluster the contender's node.
    pub host: Host,
    /// Readings that the records go without, because their maker did not take them: their
    /// absence does not make a number unknown. Absent if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_recorded: Vec<RequiredReading>,
}

impl Begin {
    /// The backend with what makes its results different from others': `replay`,
    /// `replay with delay exponential:2ms, gzip`, `postgres at db.example.org:5432`.
    #[must_use]
    pub fn backend_label(&self) -> String {
        let at = self.backend_at.as_ref().map(|place| format!(" at {place}"));
        let words = self.backend_settings.describe();
        let with = (!words.is_empty()).then(|| format!(" with {words}"));
        let parts = [Some(self.backend.to_string()), at, with];
        parts.into_iter().flatten().collect()
    }
}

/// Which cores each part may use; empty = all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Cores {
    /// The contender.
    pub contender: Vec<usize>,
    /// The load generator.
    pub generator: Vec<usize>,
    /// The backend.
    pub backend: Vec<usize>,
}

/// How the contender started. Times from the moment the start was asked for, ns.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Startup {
    /// Until the process or container existed, ready to execute.
    pub created_ns: u64,
    /// Until the contender's own program started.
    pub executed_ns: u64,
    /// Until a connection was accepted.
    pub listened_ns: u64,
    /// Until the first valid response was complete.
    pub answered_ns: u64,
    /// The value to quote: from the program's start to the first valid response, ns.
    pub startup_ns: u64,
    /// Resources at that moment.
    pub resources: ResourceSample,
    /// Size of the contender's image, or of its artifact if it runs without one, bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_bytes: Option<u64>,
    /// How the contender came to its node, if it is a Pod.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pod: Option<PodStart>,
}

/// The cost of one part of the contender's work, measured alone, before the load.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeRecord {
    /// The name of the part.
    pub name: String,
    /// The request that does the same work once.
    pub request: String,
    /// How often the work was done.
    pub operations: u32,
    /// CPU time of all of them, without start and warm-up, ns.
    pub cpu_ns: u64,
}

/// One check and its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckRecord {
    /// `lifecycle` or the functional group.
    pub group: String,
    /// The check.
    pub name: String,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: CheckOutcome,
    /// How long it took, ns.
    pub duration_ns: u64,
    /// A value worth showing: "4 x actix-rt, 1 x main", "52.3 MiB", "0.4 s".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
}

text_enum! {
    /// When the resources are read outside the load.
    "moment" Moment {
        /// Right after the first valid response.
        Started = "started",
        /// After the functional checks.
        Checked = "checked",
        /// After the last step.
        AfterLoad = "after-load",
    }
}

/// A reading of the resources outside the load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IdleRecord {
    /// When the reading was made.
    pub moment: Moment,
    /// The contender.
    pub contender: Option<ResourceSample>,
    /// The backend.
    pub backend: Option<ResourceSample>,
    /// The contender's log of garbage collections; after the load, if the profile's JVM options ask
    /// for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gc: Option<GcLog>,
}

/// A slice of a step with what it cost. Costs are differences of the two samples.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct IntervalRecord {
    /// Connections of the step.
    pub connections: u32,
    /// Whether the step is warm-up.
    pub warm_up: bool,
    /// How warm the contender was before the step; absent in warm-up, and if that had a fixed
    /// length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warmth: Option<Warmth>,
    /// The activity of the contenders that take turns with it; absent in whole runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others: Option<Others>,
    /// Cost of the contender in the slices of others since its own last one; absent if there were
    /// none or its CPU time was not read, and outside the open load of a set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unloaded: Option<Unloaded>,
    /// Requests per second of the open load of a set; absent in all other slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_rate_per_s: Option<f64>,
    /// The counts of the load generator.
    pub load: LoadInterval,
    /// The contender at the start of the slice.
    pub contender_before: Option<ResourceSample>,
    /// The contender at its end.
    pub contender_after: Option<ResourceSample>,
    /// The backend at the start.
    pub backend_before: Option<ResourceSample>,
    /// The backend at the end.
    pub backend_after: Option<ResourceSample>,
    /// The times of the host's cores in the slice; absent if they cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<HostTime>,
    /// Whether the number is fair.
    pub validity: Validity,
}

/// The last line of a run's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EndRecord {
    /// Wall clock, RFC 3339 in UTC.
    pub at: String,
    /// How it ended.
    pub outcome: Outcome,
    /// Connections of the last step that was started.
    pub last_connections: Option<Connections>,
    /// Notes for the reader: unknown backend requests, warnings.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Outcome {
    /// All steps were measured.
    Completed,
    /// The run could not be completed.
    Failed(Failure),
    /// The user stopped the run.
    Interrupted,
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// All records of one attempt at a run, in order.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecords {
    /// The first line.
    pub begin: Begin,
    /// The start, if it came that far.
    pub startup: Option<Startup>,
    /// Parts of the work of requests that were measured alone.
    pub probes: Vec<ProbeRecord>,
    /// Checks in the order in which they ended.
    pub checks: Vec<CheckRecord>,
    /// Readings outside the load.
    pub idle: Vec<IdleRecord>,
    /// Slices of all steps in order.
    pub intervals: Vec<IntervalRecord>,
    /// Receipts of several load generators, by measured step; empty if there was one.
    pub fleets: Vec<FleetRecord>,
    /// The contender's own metrics, by measured step; empty if they were not read.
    pub metrics: Vec<MetricsRecord>,
    /// Trials of a search for a capacity in order; their slices are among the others.
    pub trials: Vec<TrialRecord>,
    /// The result of that search, by objective.
    pub capacities: Vec<CapacityRecord>,
    /// The last line; `None` for a run that was killed.
    pub end: Option<EndRecord>,
}

/// Everything in a results folder.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Results {
    /// The purpose of the session.
    pub purpose: Purpose,
    /// The runs in the order in which they were made.
    pub runs: Vec<RunRecords>,
    /// Text of `notes.md` in the folder of the results.
    pub notes: Option<String>,
    /// Analysis text of the suite.
    pub analysis: Option<String>,
    /// Why the suite cannot be read any more, so that its analysis text and published results are
    /// missing; `None` if it can.
    pub suite_missing: Option<String>,
    /// A sentence on why the session's description cannot be read, if it cannot.
    pub session_missing: Option<String>,
    /// The runs that the session has not made; `None` if it has ended.
    pub unmade: Option<unmade::UnmadeRuns>,
    /// Contenders that took no part, each with the line that says why.
    pub skipped: Vec<String>,
    /// Why whole runs were made instead of turns, if they were.
    pub no_turns: Option<String>,
    /// The round that was run, if it was one.
    pub round: Option<String>,
    /// The benchmark and the rule that decide the winner of that round; `None` when it picks none.
    pub decides: Option<(String, Winner)>,
    /// How the qualification rounds ended that fed this one.
    pub qualifications: Vec<Qualification>,
    /// Published results on the suite's workloads.
    pub published: Option<Published>,
    /// Where contenders spend their CPU time, as far as that was sampled.
    pub flame_graphs: Vec<FlameGraph>,
    /// The baseline with which the contenders are compared, if there is one.
    pub baseline: Option<Baseline>,
    /// How many runs a pilot found necessary, if one decided.
    pub runs_decision: Option<RunsDecision>,
}

/// The purpose of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// The contenders of a suite.
    #[default]
    Suite,
    /// One question: which of some services is better.
    Duel,
    /// A search for a commit, of which this is one session.
    Bisect,
    /// A search for the cheapest limits, of which this is one session.
    Size,
}

impl Purpose {
    /// Whether it is the usual purpose, which files need not name.
    #[must_use]
    pub fn is_suite(&self) -> bool {
        *self == Self::Suite
    }

    /// Whether the session is one of many in a search, whose ranks are of no interest.
    #[must_use]
    pub fn is_search(self) -> bool {
        matches!(self, Self::Bisect | Self::Size)
    }
}

/// The result of a qualification round, as passed to the round that it feeds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Qualification {
    /// The round.
    pub round: String,
    /// Rule of the round in words.
    pub rule: String,
    /// The benchmark that decided.
    pub benchmark: String,
    /// The winner; `None` when no case could win.
    pub winner: Option<ChosenCase>,
    /// Why: values with their intervals, ties, and what speaks against it. Sentences.
    pub reasons: Vec<String>,
    /// The round's results folder, relative to this one; empty for this round itself, and for one
    /// that was not run.
    pub folder: String,
}

/// One record as a line, with its line end.
#[must_use]
pub fn write_line(record: &Record) -> String {
    let mut line = serde_json::to_string(record)
        .expect("records hold string keys and finite shapes only, so they are always JSON");
    line.push('\n');
    line
}

/// Reads the file of one attempt at a run. A torn last line, which a killed session leaves, is
/// dropped.
///
/// # Errors
/// A sentence naming the line that is not a record, a first line that is not `begin`, records
/// after the end, or a format that is newer than [`FORMAT`].
pub fn read_run(text: &str) -> Result<RunRecords, Problem> {
    let mut lines = text.split_inclusive('\n').enumerate();
    let first = lines.next().map(|(_, line)| line).unwrap_or_default();
    refuse_newer(first)?;
    let begin = match read_line(0, first) {
        Ok(Record::Begin(begin)) => *begin,
        Ok(_) => return Err("line 1: the first record is not `begin`".into()),
        Err(_) if !first.ends_with('\n') => {
            return Err("the run was killed before its first record was whole".into());
        }
        Err(message) => return Err(message),
    };
    let mut run = RunRecords {
        begin,
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
    };
    for (index, line) in lines {
        let record = match read_line(index, line) {
            Ok(record) => record,
            Err(_) if !line.ends_with('\n') => break,
            Err(message) => return Err(message),
        };
        if run.end.is_some() {
            return Err(format!("line {}: a record after `end`", index + 1).into());
        }
        match record {
            Record::Begin(_) => return Err(format!("line {}: a second `begin`", index + 1).into()),
            Record::Started(startup) => run.startup = Some(startup),
            Record::Probe(probe) => run.probes.push(probe),
            Record::Check(check) => run.checks.push(check),
            Record::Idle(idle) => run.idle.push(idle),
            Record::Interval(interval) => run.intervals.push(*interval),
            Record::Fleet(fleet) => run.fleets.push(fleet),
            Record::Metrics(metrics) => run.metrics.push(metrics),
            Record::Trial(trial) => run.trials.push(trial),
            Record::Capacity(capacity) => run.capacities.push(capacity),
            Record::End(end) => run.end = Some(end),
        }
    }
    Ok(run)
}

/// Refuses a file of a later format. Only the number is looked at: the rest of such a line need
/// not be anything that this version knows.
fn refuse_newer(first: &str) -> Result<(), Problem> {
    let line: serde_json::Value = serde_json::from_str(first).unwrap_or_default();
    match line["format"].as_u64() {
        Some(found) if found > u64::from(FORMAT) => Err(format!(
            "format {found} is newer than {FORMAT}, read it with a newer bakeoff"
        )
        .into()),
        _ => Ok(()),
    }
}

fn read_line(index: usize, line: &str) -> Result<Record, Problem> {
    serde_json::from_str(line).map_err(|error| format!("line {}: {error}", index + 1).into())
}
