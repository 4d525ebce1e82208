//! The interfaces of a session to the outside, as types and traits: the commands provide the real
//! parts, tests provide fakes and a virtual clock. Nothing here acts.

use bakeoff_base::hint::with_hints;
use bakeoff_base::problem::Problem;
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::suite::Suite;
use bakeoff_places::place::Place;
use bakeoff_places::services::Services;

use crate::ready_case::Case;

/// The remedy for a failure that is not the contender's.
const NOT_COUNTED: &str = "the run is not counted: end the cause, and `--resume` makes it again";

/// The group of all lifecycle checks.
pub const GROUP: &str = "lifecycle";

/// Everything a session works with.
pub struct SessionDeps<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The place of contenders.
    pub place: &'a Place,
    /// The services that contenders call.
    pub services: &'a Services,
}

impl SessionDeps<'_> {
    /// Fails if a service has ended: what contenders did since then says nothing about them.
    pub(crate) async fn services_run(&self) -> anyhow::Result<()> {
        match self.services.ended().await {
            Some(problem) => Err(with_hints(problem.with_hint(NOT_COUNTED))),
            None => Ok(()),
        }
    }
}

/// A run that is left to make.
#[derive(Debug, Clone)]
pub struct PendingRun {
    /// The run as planned.
    pub run: PlannedRun,
    /// The attempt, from 1.
    pub attempt: u32,
}

/// The knowledge of a session about a contender that it starts: supplied by the test bed that built
/// it, or by a test.
pub trait Cases {
    /// The case of a planned run.
    fn case(&self, pending: &PendingRun) -> Case;
}

/// Why a run cannot go on.
#[derive(Debug)]
pub enum Halt {
    /// This run failed; the next one may work.
    Failed(Failure),
    /// Nothing can be recorded any more, or a tool or the host failed: that says nothing about the
    /// contender. The session ends, and the run has no end.
    Fatal(anyhow::Error),
}

impl Halt {
    /// A tool or the host failed, not the contender.
    pub(crate) fn of_tool(problem: Problem) -> Self {
        Self::Fatal(with_hints(problem.with_hint(NOT_COUNTED)))
    }

    /// Returns the failure of a start for commands that make no records, whatever failed.
    #[must_use]
    pub fn failed_start(self) -> Failure {
        match self {
            Self::Failed(failure) => failure,
            Self::Fatal(error) => Failure::new(Stage::Start, format!("{error:#}")),
        }
    }
}

impl From<Failure> for Halt {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

impl From<anyhow::Error> for Halt {
    fn from(error: anyhow::Error) -> Self {
        Self::Fatal(error)
    }
}
