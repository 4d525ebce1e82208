//! Events of a session for its observers, and the format of the event stream. The recorder, the
//! terminal and the tests all see the same events; nothing else prints, nothing else writes
//! records.

pub mod bisection;
pub mod sizing;

use std::path::PathBuf;
use std::sync::Arc;

use bakeoff_analysis::BenchmarkVerdict;
use bakeoff_model::measure::flame_graph::FlameGraph;
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::record::{Qualification, Record, Results};
use bakeoff_model::suite::run_count::RunsDecision;
use schemars::JsonSchema;
use serde::Serialize;

use crate::event::bisection::{Bisection, Candidate, Commit};
use crate::event::sizing::Sizing;

/// Version of the event stream. A change that a reader could stumble over counts it up; new
/// events and new fields do not.
pub const FORMAT: u32 = 1;

/// Two contenders by all sets so far.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct ComparedPair {
    /// The one with more requests per second.
    pub first: String,
    /// The other.
    pub second: String,
    /// How many times as many.
    pub ratio: f64,
    /// The ends of its interval, which hold at all looks together; absent while there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<[f64; 2]>,
}

/// One thing that happened; one line of the event stream.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// The first event of every stream.
    StreamBegan {
        /// Version of the stream.
        format: u32,
        /// Version of bakeoff.
        version: String,
    },
    /// A round of several starts; what follows is about it until the next one.
    RoundBegan {
        /// The round.
        round: String,
        /// Purpose of the round; may be empty.
        describe: String,
    },
    /// A round that picks a winner is over, with or without one.
    WinnerPicked {
        /// The winner and the reasons.
        qualification: Box<Qualification>,
    },
    /// A commit is looked for that made a service worse; several sessions follow.
    BisectionBegan {
        /// The commit before the change.
        good: Commit,
        /// A commit after the good one.
        bad: Commit,
        /// Commits after the good one.
        commits: usize,
    },
    /// Some of the commits are measured next.
    BisectionNarrows {
        /// Commits that are measured.
        measuring: Vec<Commit>,
        /// The commits that hold the change with a probability of 95 % by what is known so far.
        candidates: Vec<Candidate>,
    },
    /// The commit that was found is measured next, against the one before it.
    BisectionConfirms {
        /// The commit.
        commit: Commit,
        /// The commit before it.
        before: Commit,
    },
    /// The last event of a search for a commit.
    BisectionEnded {
        /// The outcome.
        bisection: Box<Bisection>,
    },
    /// A service is measured with these limits next.
    SizingMeasures {
        /// CPU, cores.
        cpus: f64,
        /// Memory, bytes.
        memory_bytes: u64,
    },
    /// The last event of sizing.
    SizingEnded {
        /// The shapes and the cheapest of them.
        sizing: Box<Sizing>,
    },
    /// A session starts: the runs of one results folder.
    SessionBegan {
        /// Runs to make, without those that a resumed session has already; at most, if a pilot
        /// decides.
        runs: usize,
        /// How many runs are made whatever a pilot decides; all of them if none does.
        runs_certain: usize,
        /// Runs that were finished before.
        finished_before: usize,
        /// Expected duration of the runs, at most, ns.
        expected_ns: u64,
        /// Expected duration if every contender is warm as soon as possible, ns.
        shortest_ns: u64,
        /// Warnings for the user before it starts, one sentence each.
        warnings: Vec<String>,
    },
    /// The build of a contender starts; not that of one that is up to date.
    Building {
        /// The contender.
        contender: String,
        /// Position among the contenders, from 0.
        index: usize,
        /// Contenders that take part.
        contenders: usize,
    },
    /// A contender was built.
    Built {
        /// The contender.
        contender: String,
        /// Position among the contenders, from 0.
        index: usize,
        /// Contenders that take part.
        contenders: usize,
        /// How long that took, ns.
        took_ns: u64,
        /// Whether it had to be built; false when its artifact was up to date.
        fresh: bool,
        /// Version that the build reports.
        version: Option<String>,
    },
    /// A contender could not be built; its runs will be recorded as failed.
    BuildFailed {
        /// The contender.
        contender: String,
        /// Position among the contenders, from 0.
        index: usize,
        /// Contenders that take part.
        contenders: usize,
        /// How long that took, ns.
        took_ns: u64,
        /// Why.
        failure: Failure,
    },
    /// A contender takes no part.
    Skipped {
        /// The contender.
        contender: String,
        /// Why.
        why: String,
    },
    /// After the pilot it is decided how many runs are made; the rest of the plan is not
    /// made.
    RunsDecided {
        /// How many runs are made, why, and what they can find.
        decision: Box<RunsDecision>,
        /// Runs that are left to make now.
        runs: usize,
        /// Expected duration of these runs, at most, ns.
        expected_ns: u64,
        /// Expected duration if every contender is warm as soon as possible, ns.
        shortest_ns: u64,
    },
    /// After a set, contenders are compared by all sets so far, and it is not decided yet.
    SetsCompared {
        /// Sets so far.
        sets: u32,
        /// The best of each benchmark against each of the others, by requests per second.
        pairs: Vec<ComparedPair>,
        /// The time until all pairs are decided, if further sets are like these, or until the time
        /// of the session is over, ns.
        left_ns: u64,
        /// Whether the pairs will be decided before the time is over.
        in_time: bool,
    },
    /// Sets in each block of which the host was at other work are played once more.
    SetsReplaced {
        /// How many.
        sets: usize,
        /// The expected duration of their runs, at most, ns.
        expected_ns: u64,
    },
    /// Something that a killed session left behind was removed.
    Swept {
        /// The thing.
        removed: String,
    },
    /// The backend is being started.
    BackendStarting {
        /// The backend.
        name: String,
    },
    /// The backend responds.
    BackendReady {
        /// The backend.
        name: String,
        /// Where contenders reach the backend.
        address: String,
    },
    /// Local processes run without their limits.
    LimitsUnenforced {
        /// Why.
        why: String,
    },
    /// The load generator could not be measured against a server that does nothing.
    CeilingUnknown {
        /// Why.
        why: String,
    },
    /// Whether load generator and contender share a physical core could not be measured.
    CoreSharingUnknown {
        /// Why.
        why: String,
    },
    /// A run starts.
    RunBegan {
        /// Position among the runs to make, from 0.
        index: usize,
        /// Runs to make; at most, before a pilot has decided.
        runs: usize,
        /// The run as planned.
        run: Box<PlannedRun>,
        /// The attempt, from 1.
        attempt: u32,
    },
    /// A run entered a stage.
    StageBegan {
        /// The run.
        run: String,
        /// The stage.
        stage: Stage,
    },
    /// A step's window opens.
    StepBegan {
        /// The run.
        run: String,
        /// The step, from 0.
        step: usize,
        /// Steps of the run.
        steps: usize,
        /// Connections that were asked for.
        connections: u32,
        /// Connections that are open; all, if users open them as they arrive.
        established: u32,
    },
    /// A run has a new record.
    Recorded {
        /// The run.
        run: String,
        /// The record, as in the run's file.
        record: Box<Record>,
    },
    /// After the measured runs: a contender is loaded once more, for samples of its stacks.
    FlameGraphBegan {
        /// Position among the flame graphs, from 0.
        index: usize,
        /// Flame graphs to draw.
        flame_graphs: usize,
        /// The case.
        case: String,
        /// The benchmark.
        benchmark: String,
        /// Expected duration, ns.
        expected_ns: u64,
    },
    /// The outcome of a flame graph.
    FlameGraphEnded {
        /// The flame graph, or why there is none.
        flame_graph: Box<FlameGraph>,
    },
    /// The session stopped on a signal; what was recorded stays.
    Interrupted {
        /// Folder of the suite.
        suite: PathBuf,
        /// The folder to resume.
        resume: PathBuf,
    },
    /// Nothing more fits into the sitting; the remaining runs are for the next one.
    SittingEnded {
        /// Folder of the suite.
        suite: PathBuf,
        /// The folder to resume.
        resume: PathBuf,
        /// Remaining runs, at most: of this session and of rounds that have not started. Runs of
        /// winners that are not known yet are not counted.
        runs: usize,
        /// Expected duration of these runs, at most, ns.
        expected_ns: u64,
        /// Expected duration if every contender is warm as soon as possible, ns.
        shortest_ns: u64,
    },
    /// The outcome of a benchmark with load, before the session ends: one for each, after the
    /// documents were written.
    Verdict {
        /// The results folder.
        results: PathBuf,
        /// The verdict.
        verdict: Box<BenchmarkVerdict>,
    },
    /// The session ended; all that could be measured is recorded.
    SessionEnded {
        /// The results folder.
        results: PathBuf,
        /// Runs of the plan.
        runs: usize,
        /// Runs of the plan that failed.
        failed: usize,
        /// Runs that were made now; 0 when nothing was left.
        made: usize,
        /// Everything in the results folder, read once for all observers; in no stream.
        #[serde(skip)]
        recorded: Arc<Results>,
    },
}

impl Event {
    /// The first event of every stream.
    #[must_use]
    pub fn stream_start() -> Self {
        Self::StreamBegan {
            format: FORMAT,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }
}

/// Sees every event in order. An error (a full disk) ends the session.
pub trait Observer {
    /// Takes one event.
    ///
    /// # Errors
    /// The event could not be kept or shown, and nothing after it could.
    fn observe(&mut self, event: &Event) -> anyhow::Result<()>;

    /// Nothing has happened for a second: an observer that shows what is at work may show for how
    /// long.
    fn time_passes(&mut self) {}
}

/// Observes what is not shown.
pub struct NullObserver;

impl Observer for NullObserver {
    fn observe(&mut self, _event: &Event) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Passes a record of a run to observers.
///
/// # Errors
/// The observer's error.
pub fn record(observer: &mut dyn Observer, run: &str, record: Record) -> anyhow::Result<()> {
    observer.observe(&Event::Recorded {
        run: run.to_owned(),
        record: Box::new(record),
    })
}

/// JSON Schema of a line of the event stream: file name in `docs/schema/` and text.
#[must_use]
pub fn schema() -> (&'static str, String) {
    let schema = schemars::schema_for!(Event);
    let mut text = format!("{:#}", schema.to_value());
    text.push('\n');
    ("event.schema.json", text)
}
