//! What a session tells its observers. The recorder, the terminal and the tests all see the same
//! events; nobody else prints, nobody else writes records.

use std::path::PathBuf;
use std::time::Duration;

use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::Record;
use serde::Serialize;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum Event {
    /// The session begins.
    SessionBegan {
        /// Runs to make, without those that a resumed session has already.
        runs: usize,
        /// Runs that were finished before.
        finished_before: usize,
        /// Expected duration of the runs.
        expected: Duration,
        /// What the user should know before it begins, one sentence each.
        warnings: Vec<String>,
    },
    /// A contender is being built (or found to be fresh).
    Building { contender: String },
    /// A contender was built.
    Built {
        contender: String,
        fresh: bool,
        version: Option<String>,
    },
    /// A contender could not be built; its runs will be recorded as failed.
    BuildFailed {
        contender: String,
        message: String,
        evidence: String,
    },
    /// A contender takes no part.
    Skipped { contender: String, why: String },
    /// Something that a dead session left behind was removed.
    Swept { removed: String },
    /// The backend is being started.
    BackendStarting { name: String },
    /// The backend answers.
    BackendReady { name: String, address: String },
    /// The engine could not be measured against a server that does nothing.
    CeilingUnknown { why: String },
    /// A run begins.
    RunBegan {
        index: usize,
        runs: usize,
        run: Box<PlannedRun>,
        attempt: u32,
    },
    /// A run entered a stage: `start`, `verify`, `load`, `stop`.
    Stage { run: String, stage: &'static str },
    /// A step's window opens.
    StepBegan {
        run: String,
        step: usize,
        steps: usize,
        connections: u32,
        established: u32,
    },
    /// A record of the current run.
    Recorded { record: Box<Record> },
    /// The session ended; all that could be measured is recorded.
    SessionEnded { results: PathBuf },
}

/// Sees every event in order. An error (a full disk) ends the session.
pub(crate) trait Observer {
    /// Takes one event.
    fn observe(&mut self, event: &Event) -> anyhow::Result<()>;
}
