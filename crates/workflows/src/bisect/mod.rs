//! The search for the commit of a line that made a service worse: some of the commits are alive
//! concurrently and take turns, the result updates the probability of each commit, and the next
//! ones are those that split it. Every session is a duel with its own results folder.

mod line;
mod outcome;
mod search;

use std::path::PathBuf;
use std::time::Duration;

use bakeoff_base::hint::hinted;
use bakeoff_model::plan::baseline::{Condition, ConditionMetric};
use bakeoff_session::session::{Audience, SessionOutcome};
use bakeoff_store::event::Event;

use crate::bisect::line::Line;
use crate::bisect::search::Search;
use crate::duel::Duel;
use crate::series::Stopped;

pub use bakeoff_store::event::bisection::{
    Bisection, BisectionOutcome, Candidate, Commit, SkippedCommit,
};

/// A search for a commit.
#[derive(Debug, Clone)]
pub struct Bisect {
    /// A revision before the change.
    pub good: String,
    /// A revision after it, of which the good one is an ancestor.
    pub bad: String,
    /// The folder of the repository in which each commit is built and started.
    pub folder: PathBuf,
    /// The command of a shell that builds each commit [default: nothing is built].
    pub build: Option<String>,
    /// The program of each commit and its arguments.
    pub command: Vec<String>,
    /// The condition that makes a commit bad.
    pub condition: Condition,
    /// How they are asked and loaded; it has no sides.
    pub duel: Duel,
    /// Whether stacks are sampled in the session of the commit that is found and the one before it,
    /// to say what its changed lines cost.
    pub profile_cpu: bool,
    /// Commits between good and bad that are measured at once.
    pub at_once: usize,
    /// When this time is over no further session starts.
    pub within: Duration,
    /// The folder of results, which has a folder for each session and the logs of builds.
    pub results: PathBuf,
    /// Seed of the order of turns.
    pub seed: u64,
}

impl Bisect {
    /// Refuses what can be seen to be wrong before anything is read.
    fn check(&self) -> anyhow::Result<()> {
        if self.condition.figure == ConditionMetric::Errors {
            return Err(hinted(
                "--fail-if errors: a commit is looked for by how much more it takes than another",
                "write slower>5%, cpu>5%, memory>10%, p50>10% or p99>20%",
            ));
        }
        Ok(())
    }
}

/// Looks for the commit, and reports it to observers.
///
/// # Errors
/// There is no such line of commits, its ends cannot be built or measured, or a disk is full.
pub async fn bisect(order: &Bisect, audience: &mut Audience<'_>) -> anyhow::Result<SessionOutcome> {
    order.check()?;
    let line = Line::find(&order.good, &order.bad, &order.folder)?;
    audience.watcher.observe(&Event::stream_start())?;
    audience.watcher.observe(&Event::BisectionBegan {
        good: line.commit(0),
        bad: line.commit(line.last()),
        commits: line.last(),
    })?;
    let mut search = Search::new(order, line, audience);
    match search.run().await {
        Ok(bisection) => {
            search.tell(&Event::BisectionEnded {
                bisection: Box::new(bisection),
            })?;
            Ok(SessionOutcome::Completed)
        }
        Err(error) if error.is::<Stopped>() => Ok(SessionOutcome::Interrupted),
        Err(error) => Err(error),
    }
}
