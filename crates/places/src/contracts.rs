//! What a place gives to a session besides the runtime of contenders: their installation,
//! single requests, and load generators. Tests provide fakes. Nothing here acts.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::bail;
use async_trait::async_trait;
use bakeoff_base::problem::Problem;
use bakeoff_build::Built;
use bakeoff_model::load::{ClockOffset, LoadEvent, LoadSpec, StepCommand};
use bakeoff_model::record::{Cores, GeneratorCeiling};
use bakeoff_model::request::check::{Check, ReceivedResponse};
use bakeoff_model::suite::Contender;

use crate::contender::Ready;
use crate::{BoxFuture, Instance, Wire};

/// How long a contender may take to stop.
pub const STOP_GRACE: Duration = Duration::from_secs(15);

/// Where requests go.
#[derive(Debug, Clone, PartialEq)]
pub struct Destination {
    pub(crate) address: SocketAddr,
    /// The name for `Host` in requests [default: the address].
    pub host: Option<String>,
    /// The protocols that the destination speaks.
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

/// Installs built contenders at their place.
#[async_trait(?Send)]
pub trait Installer {
    /// Returns a built contender in the form that the runtime starts.
    ///
    /// # Errors
    /// The contender cannot run there.
    async fn install(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready>;
}

/// Starts load generators.
#[async_trait(?Send)]
pub trait LoadGenerator {
    /// Starts a load generator on a load spec.
    async fn start(&self, spec: &LoadSpec) -> anyhow::Result<Box<dyn RunningLoad>>;

    /// Measures what a load generator can do at best on these cores.
    ///
    /// # Errors
    /// It cannot be measured, and why.
    async fn ceiling(&self, cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let _ = cores;
        bail!("this load generator cannot be measured")
    }
}

/// A running load generator. Dropping it ends it.
#[async_trait(?Send)]
pub trait RunningLoad {
    /// The next event; `None` after the last one.
    async fn next(&mut self) -> anyhow::Result<Option<LoadEvent>>;

    /// Sends it the command to go on, after a [`LoadEvent::Ready`] or between steps.
    async fn tell(&mut self, command: StepCommand) -> anyhow::Result<()>;

    /// Returns the wall clock of the load generator's machine; `None` if it is the session's.
    fn clock(&self) -> Option<ClockOffset> {
        None
    }
}
