//! The interfaces of a session to the outside, as types and traits: the commands provide the real
//! parts, tests provide fakes and a virtual clock. Nothing here acts.

use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use bakeoff_base::problem::Problem;
use bakeoff_model::check::{Check, ReceivedResponse};
use bakeoff_model::failure::Failure;
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::plan::PlannedRun;
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::Suite;
use bakeoff_runtime::{BoxFuture, Instance, Runtime, Wire};

use crate::hint::with_hints;
use crate::ready_case::Case;

/// How long a contender may take to stop.
pub const STOP_GRACE: Duration = Duration::from_secs(15);
/// The group of all lifecycle checks.
pub const GROUP: &str = "lifecycle";

/// Where requests go.
#[derive(Debug, Clone, PartialEq)]
pub struct Destination {
    pub(crate) address: SocketAddr,
    /// The name for `Host` in requests; the address when absent.
    pub(crate) host: Option<String>,
    /// The protocols that it speaks.
    pub(crate) wire: Wire,
}

impl Destination {
    /// Where an instance is reached.
    #[must_use]
    pub fn of(instance: &dyn Instance) -> Self {
        Self {
            address: instance.address(),
            host: instance.host().map(str::to_owned),
            wire: instance.wire(),
        }
    }
}

/// Sends a service one request over a fresh connection.
pub trait Client: Send + Sync {
    /// The response, or why there is none.
    fn ask<'a>(
        &'a self,
        to: &'a Destination,
        check: &'a Check,
    ) -> BoxFuture<'a, Result<ReceivedResponse, Problem>>;
}

/// A running backend, as far as a session needs it.
pub trait BackendProbe: Send + Sync {
    /// Returns its cost so far.
    fn sample(&self) -> BoxFuture<'_, ResourceSample>;

    /// Why it, or a dependency, responds no more; `None` while all live, and if that is not known:
    /// of servers that run already, and of Pods.
    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(async { None })
    }

    /// Requests that the replay backend had no recording of since the last call.
    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>>;

    /// Empties the contender's database, where the backend has databases.
    ///
    /// # Errors
    /// The error message.
    fn prepare<'a>(&'a self, contender: &'a str) -> BoxFuture<'a, Result<(), Problem>>;

    /// Returns the result of a query in the contender's database.
    ///
    /// # Errors
    /// The error message.
    fn query<'a>(
        &'a self,
        contender: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>>;
}

/// Starts load generators.
#[async_trait(?Send)]
pub trait LoadGenerator {
    /// Starts a load generator on a load spec.
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>>;
}

/// A running load generator. Dropping it ends it.
#[async_trait(?Send)]
pub trait RunningLoad {
    /// The next event; `None` after the last one.
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>>;

    /// Sends it the command to go on, after a [`LoadEvent::Ready`] or between steps.
    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()>;

    /// The wall clock of its machine; `None` where it is the session's.
    fn clock(&self) -> Option<ClockOffset> {
        None
    }
}

/// Everything a session works with.
pub struct SessionDeps<'a> {
    /// The suite.
    pub suite: &'a Suite,
    /// The runtime of contenders.
    pub runtime: &'a dyn Runtime,
    /// Starts load generators.
    pub generator: &'a dyn LoadGenerator,
    /// Sends single requests.
    pub client: &'a dyn Client,
    /// The running backend, if the session has one.
    pub backend: Option<&'a dyn BackendProbe>,
    /// Cores of the host.
    pub host_cores: usize,
}

impl SessionDeps<'_> {
    /// Fails if the backend or a dependency has ended: what contenders did since then says nothing
    /// about them.
    pub(crate) async fn backend_lives(&self) -> anyhow::Result<()> {
        let ended = match self.backend {
            Some(backend) => backend.ended().await,
            None => None,
        };
        match ended {
            Some(problem) => Err(with_hints(problem.with_hint(
                "the run is not counted: end the cause, and `--resume` makes it again",
            ))),
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
    /// Nothing can be recorded any more.
    Fatal(anyhow::Error),
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
