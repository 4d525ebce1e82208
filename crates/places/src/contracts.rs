//! What a place gives to a session besides the runtime of contenders: single requests, load
//! generators, and the backend. Tests provide fakes. Nothing here acts.

use std::net::SocketAddr;
use std::time::Duration;

use async_trait::async_trait;
use bakeoff_base::problem::Problem;
use bakeoff_model::check::{Check, ReceivedResponse};
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::resource::ResourceSample;

use crate::{BoxFuture, Instance, Wire};

/// How long a contender may take to stop.
pub const STOP_GRACE: Duration = Duration::from_secs(15);

/// Where requests go.
#[derive(Debug, Clone, PartialEq)]
pub struct Destination {
    pub(crate) address: SocketAddr,
    /// The name for `Host` in requests [default: the address].
    pub host: Option<String>,
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
