//! One contender that is started for its user and for nothing else: backend and limits as in a
//! measurement, without checks and load, until it is stopped.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::record::Startup;
use bakeoff_model::record::failure::Failure;
use bakeoff_model::suite::{Contender, Limits};
use bakeoff_places::contracts::STOP_GRACE;
use bakeoff_places::{ExitInfo, Instance, StopReport};
use bakeoff_session::contracts::Halt;
use bakeoff_session::stages::start::{await_ready, start};
use bakeoff_session::testbed::Testbed;

use crate::verification::first_parameters;

/// How often it is looked whether the contender has ended.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A contender that listens.
pub struct Standing {
    instance: Box<dyn Instance>,
    startup: Startup,
}

impl Standing {
    /// Starts a contender and waits for its first valid response.
    ///
    /// # Errors
    /// Why it does not listen.
    pub async fn start(
        testbed: &Testbed,
        contender: &Contender,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let log_name = contender.name.replace('/', "_");
        let parameters = first_parameters(contender);
        let spec = testbed.start_spec(contender, &parameters, limits, &log_name)?;
        let started = start(&testbed.deps(), &spec).await;
        let mut instance = started.map_err(Halt::failed_start)?;
        let ready = await_ready(instance.as_mut(), &spec).await;
        let startup = ready.map_err(Halt::failed_start)?;
        Ok(Self { instance, startup })
    }

    /// Returns the address of the contender.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.instance.address()
    }

    /// Returns how the contender's start went.
    #[must_use]
    pub fn startup(&self) -> &Startup {
        &self.startup
    }

    /// Returns the file of the contender's output.
    #[must_use]
    pub fn log_path(&self) -> &Path {
        self.instance.log_path()
    }

    /// Processes of the contender; none if they cannot be seen.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        self.instance.processes()
    }

    /// Returns the contender's cost so far.
    pub async fn sample(&self) -> ResourceSample {
        self.instance.sample().await.resources
    }

    /// Waits until the contender exits by itself.
    pub async fn ended(&mut self) -> ExitInfo {
        loop {
            if let Some(exit) = self.instance.exited().await {
                return exit;
            }
            tokio::time::sleep(LOOK_EVERY).await;
        }
    }

    /// Stops the contender.
    pub async fn stop(mut self) -> StopReport {
        self.instance.stop(STOP_GRACE).await
    }
}
