//! The plan of a session: runs, their order, and how long they will take.

pub mod baseline;
mod cases;
mod groups;
mod latency;
mod parameters;
mod steps;
pub mod twins;
pub mod whole_runs;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use bakeoff_base::random::Random;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::transport::Transport;
use crate::suite::capacity::Capacity;
use crate::suite::conditions::{BackendName, RuntimeKind};
use crate::suite::delay::Delay;
use crate::suite::run_count::{RunsDecision, RunsUntil};
use crate::suite::{BenchmarkKind, Contender, Limits, Profile, Step, Suite};
use crate::text::duration_ns;
pub use crate::text::names::{UnknownName, matches, select};
use cases::Case;

pub use latency::{LatencyLoad, stated_step};
pub use parameters::{CpuQuota, Parameters};

/// Version of the plan format.
pub const FORMAT: u32 = 2;

/// All runs of a session in the order in which they will be made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// Version of this format.
    pub format: u32,
    /// The suite.
    pub suite: String,
    /// Digest of the suite definition.
    pub suite_digest: String,
    /// The profile.
    pub profile: String,
    /// The runtime of the contenders.
    pub runtime: RuntimeKind,
    /// The backend.
    pub backend: BackendName,
    /// How long the replay backend holds its responses back, if that is not the suite's choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub backend_delay: Option<Delay>,
    /// Seed of the order.
    pub seed: u64,
    /// The decision after a pilot: how many of these runs are made. Absent if all are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs_until: Option<RunsUntil>,
    /// Why contenders that could take turns are measured in whole runs, one after the other. Absent
    /// if they take turns, and if nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_turns: Option<String>,
    /// The runs, at most.
    pub runs: Vec<PlannedRun>,
}

/// One start-to-stop of a contender, the unit of replication.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PlannedRun {
    /// Unique in the plan, usable as a file name: `city-get.http4k-3_undertow.r2`.
    pub id: String,
    /// Position in the order, from 0.
    pub order: usize,
    /// Repetition, from 1.
    pub repetition: u32,
    /// The benchmark.
    pub benchmark: String,
    /// The kind of the run.
    #[serde(default, skip_serializing_if = "RunKind::is_load")]
    pub kind: RunKind,
    /// The contender.
    pub contender: String,
    /// Chosen values of the contender's matrix, and of the profile's CPU quotas.
    #[schemars(with = "BTreeMap<String, String>")]
    pub parameters: Parameters,
    /// The run has the second process of its contender in this repetition: the same case is in the
    /// plan once more, without this, and the two differ only by chance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub twin: bool,
    /// Limits of the contender.
    pub limits: Limits,
    /// Steps of the load.
    pub steps: Vec<Step>,
    /// Order in which the steps are played, as indices of `steps`; absent if it is theirs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_order: Vec<usize>,
    /// The contender takes turns with those of all other runs of its benchmark, repetition and
    /// group: they are alive concurrently, and each is loaded for the duration of its steps in all.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turns: bool,
    /// The group of the set, from 1, if not all its contenders are alive concurrently. One
    /// contender has a run in each group. Absent if the set is not split.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<u32>,
    /// The length of every turn, ns; absent: it follows the contenders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_ns: Option<u64>,
    /// The open load after the steps, in which response times are compared; absent without turns,
    /// of scenarios, and if the profile goes without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<LatencyLoad>,
    /// The capacity that is searched for after the steps, which are all warm-up then; of kind
    /// `capacity` only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Capacity>,
    /// How the requests travel.
    #[serde(default, skip_serializing_if = "Transport::is_usual")]
    pub transport: Transport,
    /// The least work of each successful request, if the suite says so.
    #[serde(default, skip_serializing_if = "Work::is_unsaid")]
    pub work: Work,
    /// Whether the slow lifecycle checks belong to this run.
    pub lifecycle: bool,
    /// Expected duration, at most, without builds; in files in ns.
    #[serde(rename = "expected_ns", with = "duration_ns")]
    #[schemars(with = "u64")]
    pub expected: Duration,
}

/// The kind of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RunKind {
    /// Start, checks, load, stop.
    #[default]
    Load,
    /// Start and stop: one cold start, timed.
    Startup,
    /// Like a load, with a search for a capacity in place of measured steps.
    Capacity,
}

/// The least work of each successful request: a contender that does less does other work. Absent
/// if the suite does not say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Work {
    /// Requests to the backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend_requests_min: Option<f64>,
    /// Lines of the contender's log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_lines_min: Option<f64>,
}

impl Work {
    /// Whether the suite says nothing.
    #[must_use]
    pub fn is_unsaid(&self) -> bool {
        *self == Self::default()
    }
}

impl RunKind {
    /// Whether it is the usual kind, which records need not name.
    #[must_use]
    pub fn is_load(&self) -> bool {
        *self == Self::Load
    }
}

impl Plan {
    /// Expected duration of all runs, at most, without builds.
    #[must_use]
    pub fn expected(&self) -> Duration {
        let all = self.runs.iter().map(|run| run.expected).sum();
        match self.runs_until.and_then(|until| until.within) {
            Some(within) => within
                .max(self.certain().map(|run| run.expected).sum())
                .min(all),
            None => all,
        }
    }

    /// The least duration: every contender is warm as soon as may be, and a pilot asks for no more.
    /// Where the session ends as soon as it is sure, contenders start at once, too, because no
    /// time limit may be below the least duration.
    #[must_use]
    pub fn shortest(&self) -> Duration {
        let is_sequential = self.runs_until.is_some_and(|until| until.sequential);
        let of_run = match is_sequential {
            true => |run: &PlannedRun| steps::load(run, Step::shortest),
            false => PlannedRun::shortest,
        };
        self.certain().map(of_run).sum()
    }
}

impl PlannedRun {
    /// Contender and parameters as one label: `rocket-0.4[workers=16]`.
    #[must_use]
    pub fn case_label(&self) -> String {
        case_label(&self.contender, &self.parameters)
    }

    /// The label of its process: the case, and ` (twin)` if it is the second process of it.
    #[must_use]
    pub fn process_label(&self) -> String {
        let twin = if self.twin { " (twin)" } else { "" };
        self.case_label() + twin
    }

    /// Whether a pilot decides if it is made: cold starts have a separate number.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.kind != RunKind::Startup
    }

    /// Whether it is made after this decision.
    #[must_use]
    pub fn is_in(&self, decision: &RunsDecision) -> bool {
        !self.is_decided() || self.repetition <= decision.runs
    }

    /// Expected duration if the contender is warm as soon as may be.
    #[must_use]
    pub fn shortest(&self) -> Duration {
        let spared = self
            .steps
            .iter()
            .map(|step| step.duration.saturating_sub(step.shortest()));
        self.expected.saturating_sub(spared.sum())
    }

    /// Whether both are in one set of processes that take turns, and in one group of it.
    #[must_use]
    pub fn is_beside(&self, other: &Self) -> bool {
        let place = |run: &Self| (run.repetition, run.group);
        let turns = self.in_turns && other.in_turns;
        turns && self.benchmark == other.benchmark && place(self) == place(other)
    }

    /// Returns the repetition and group for people: `2`, or `2, group 1`.
    #[must_use]
    pub fn repetition_text(&self) -> String {
        let group = self.group.map(|group| format!(", group {group}"));
        format!("{}{}", self.repetition, group.unwrap_or_default())
    }

    /// The steps in the order in which the load generator plays them, as indices of `steps`.
    #[must_use]
    pub fn played(&self) -> Vec<usize> {
        let order = self.step_order.iter().copied();
        match self.step_order.is_empty() {
            true => (0..self.steps.len()).collect(),
            false => order.filter(|step| *step < self.steps.len()).collect(),
        }
    }
}

/// Contender and parameters as one label: `rocket-0.4[workers=16]`.
#[must_use]
pub fn case_label(contender: &str, parameters: &Parameters) -> String {
    if parameters.is_empty() {
        return contender.to_owned();
    }
    let list: Vec<String> = parameters
        .by_name()
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    format!("{contender}[{}]", list.join(","))
}

/// The choices of the user.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanOptions {
    /// The profile.
    pub profile: String,
    /// Globs of contenders; empty = all, unless `cases` names some.
    pub contenders: Vec<String>,
    /// Parameter -> the values it takes; parameters that are not named take all of theirs.
    pub parameters: BTreeMap<String, Vec<String>>,
    /// Contenders that take part with these parameters only, in addition to `contenders`.
    pub cases: Vec<ChosenCase>,
    /// Globs of benchmarks; empty = all.
    pub benchmarks: Vec<String>,
    /// Repetitions instead of the profile's.
    pub runs: Option<u32>,
    /// Seed of the order.
    pub seed: u64,
    /// The runtime of the contenders.
    pub runtime: RuntimeKind,
    /// The backend.
    pub backend: BackendName,
    /// How long the replay backend holds its responses back instead of as the suite says.
    pub backend_delay: Option<Delay>,
    /// Why contenders are measured in whole runs instead of turns; `None` if they can take turns.
    pub no_turns: Option<String>,
}

/// A contender with one combination of its parameters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct ChosenCase {
    /// The contender.
    pub contender: String,
    /// Parameters of the contender.
    #[serde(default, skip_serializing_if = "Parameters::is_empty")]
    #[schemars(with = "BTreeMap<String, String>")]
    pub parameters: Parameters,
}

impl ChosenCase {
    /// Contender and parameters as one label.
    #[must_use]
    pub fn label(&self) -> String {
        case_label(&self.contender, &self.parameters)
    }
}

/// Plans a session: repetition by repetition, and inside each all cases in an order drawn from
/// the seed, so that no contender always runs first or next to the same neighbour. The same suite,
/// options and seed give the same plan in every version; more repetitions only add to its end.
///
/// # Errors
/// Every name that the suite does not know.
pub fn plan(suite: &Suite, options: &PlanOptions) -> Result<Plan, Vec<UnknownName>> {
    let profile = suite.profiles.get(&options.profile);
    let mut errors = Vec::new();
    if profile.is_none() {
        let known = suite.profiles.keys().cloned().collect();
        errors.push(unknown("profile", &options.profile, known));
    }
    errors.extend(suite.has_backend(options.backend).err());
    let names: Vec<String> = suite.contenders.iter().map(|c| c.name.clone()).collect();
    let contenders = match options.contenders.as_slice() {
        [] if !options.cases.is_empty() => Ok(Vec::new()),
        globs => select("contender", &names, globs),
    };
    for chosen in options
        .cases
        .iter()
        .filter(|one| !names.contains(&one.contender))
    {
        errors.push(unknown("contender", &chosen.contender, names.clone()));
    }
    let names: Vec<String> = suite.benchmarks.iter().map(|b| b.name.clone()).collect();
    let benchmarks = select("benchmark", &names, &options.benchmarks);
    let (contenders, benchmarks) = match (contenders, benchmarks) {
        (Ok(contenders), Ok(benchmarks)) => (contenders, benchmarks),
        (contenders, benchmarks) => {
            errors.extend(contenders.err().into_iter().flatten());
            errors.extend(benchmarks.err().into_iter().flatten());
            return Err(errors);
        }
    };
    let Some(profile) = profile.filter(|_| errors.is_empty()) else {
        return Err(errors);
    };
    let mut cases = cases::cases(suite, profile, options, &contenders, &benchmarks);
    let can_take_turns = |case: &Case<'_>, cases: &[Case<'_>]| {
        let same = |other: &&Case<'_>| other.benchmark.name == case.benchmark.name;
        !profile.whole_runs
            && cases.iter().filter(same).count() > 1
            && steps::can_take_turns(profile, case.benchmark)
    };
    // Two that are alive concurrently would share a database.
    let in_turns = cases.iter().any(|case| can_take_turns(case, &cases));
    let shares = options.backend == BackendName::Postgres && in_turns;
    let all = cases.clone();
    for case in cases.iter_mut().filter(|_| options.no_turns.is_none()) {
        case.in_turns = can_take_turns(case, &all);
    }
    if profile.control && !(shares && options.no_turns.is_none()) {
        cases::add_twins(&mut cases, options.seed);
    }
    Ok(Plan {
        format: FORMAT,
        suite: suite.name.clone(),
        suite_digest: suite.digest.clone(),
        profile: options.profile.clone(),
        runtime: options.runtime,
        backend: options.backend,
        backend_delay: options.backend_delay,
        seed: options.seed,
        runs_until: runs_until(profile, options, &cases),
        no_turns: options.no_turns.clone().filter(|_| in_turns),
        runs: runs(profile, cases, options, suite),
    })
}

/// When the session ends, if its records decide that.
fn runs_until(profile: &Profile, options: &PlanOptions, cases: &[Case<'_>]) -> Option<RunsUntil> {
    let until = profile.runs.until().filter(|_| options.runs.is_none())?;
    let is_start = |case: &&Case<'_>| matches!(case.benchmark.kind, BenchmarkKind::Startup { .. });
    let is_decided = |case: &&Case<'_>| !case.twin && !is_start(case);
    let decided = u32::try_from(cases.iter().filter(is_decided).count()).unwrap_or(u32::MAX);
    let time = profile.within_each.map(|each| each.saturating_mul(decided));
    Some(until.within_at_most(time))
}

fn unknown(kind: &'static str, name: &str, known: Vec<String>) -> UnknownName {
    UnknownName {
        kind,
        name: name.to_owned(),
        known,
    }
}

fn runs(
    profile: &Profile,
    mut cases: Vec<Case<'_>>,
    options: &PlanOptions,
    suite: &Suite,
) -> Vec<PlannedRun> {
    // The life of a service that runs already is not ours to check.
    let has_lifecycle = suite.lifecycle && options.runtime != RuntimeKind::External;
    let mut random = Random::new(options.seed);
    let mut seen = BTreeSet::new();
    let mut runs = Vec::new();
    let repetitions = |case: &Case<'_>| match (options.runs, case.benchmark.kind) {
        (Some(runs), _) => runs,
        (None, BenchmarkKind::Load | BenchmarkKind::Capacity) => profile.runs.at_most(),
        (None, BenchmarkKind::Startup { starts }) => starts,
    };
    let most = cases.iter().map(repetitions).max().unwrap_or_default();
    for repetition in 1..=most {
        cases::shuffle(&mut cases, &mut random);
        if cases.iter().any(|case| case.in_turns) {
            cases::beside_each_other(&mut cases);
        }
        for case in cases.iter().filter(|case| repetition <= repetitions(case)) {
            let kind = match case.benchmark.kind {
                BenchmarkKind::Load => RunKind::Load,
                BenchmarkKind::Capacity => RunKind::Capacity,
                BenchmarkKind::Startup { .. } => RunKind::Startup,
            };
            let is_loaded = kind != RunKind::Startup;
            let is_first = is_loaded && seen.insert(case.contender.name.as_str());
            let lifecycle = has_lifecycle && is_loaded && (is_first || profile.lifecycle_every_run);
            let steps = steps::of_process(profile, case.benchmark, case.shares_time);
            let is_compared = case.in_turns
                && (case.shares_time || !case.twin)
                && profile.latency
                && case.benchmark.scenario.is_none();
            let latency = is_compared.then(|| LatencyLoad::of(&steps)).flatten();
            let mut run = PlannedRun {
                id: format!("{}.r{repetition}", case.id),
                order: runs.len(),
                repetition,
                benchmark: case.benchmark.name.clone(),
                kind,
                contender: case.contender.name.clone(),
                parameters: case.parameters.clone(),
                twin: case.twin,
                limits: case.limits,
                steps,
                step_order: steps::order(profile, case.benchmark, options.seed, repetition),
                in_turns: case.in_turns,
                group: None,
                turn_ns: profile
                    .turn
                    .filter(|_| case.in_turns)
                    .map(duration_ns::whole),
                latency,
                capacity: case.benchmark.capacity.clone(),
                transport: Transport {
                    tls: speaks_tls(suite, case.contender, options.runtime),
                    ..case.benchmark.transport
                },
                work: Work {
                    backend_requests_min: case.benchmark.backend_requests_min,
                    log_lines_min: suite.log_lines_due(case.contender, case.benchmark),
                },
                lifecycle,
                expected: Duration::ZERO,
            };
            run.expected = steps::expected(&run);
            runs.push(run);
        }
    }
    runs
}

/// Whether a contender is reached over TLS: as the suite says, or its URL if it runs already.
fn speaks_tls(suite: &Suite, contender: &Contender, runtime: RuntimeKind) -> bool {
    match &contender.url {
        Some(url) if runtime == RuntimeKind::External => url.is_tls(),
        _ => suite.tls.is_some(),
    }
}
