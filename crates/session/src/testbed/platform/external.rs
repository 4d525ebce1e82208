//! Services that run already: nothing is started, limited or metered.

use async_trait::async_trait;
use bakeoff_model::suite::Contender;
use bakeoff_runtime::Runtime;
use bakeoff_runtime::build::Built;
use bakeoff_runtime::external::External;
use bakeoff_runtime::process::ProcessRuntime;

use super::Platform;
use crate::testbed::backends::{self, RunningBackend, WantedBackend};
use crate::testbed::contender::Ready;
use crate::testbed::images::elsewhere;
use crate::testbed::this_host::{process_runtime, swept};

/// Services elsewhere.
pub(super) struct ExternalPlatform {
    /// For backends.
    process: ProcessRuntime,
}

impl ExternalPlatform {
    pub(super) fn new() -> anyhow::Result<Self> {
        let process = process_runtime()?;
        Ok(Self { process })
    }
}

#[async_trait(?Send)]
impl Platform for ExternalPlatform {
    fn runtime(&self) -> &dyn Runtime {
        &External
    }

    async fn make_ready(
        &self,
        _suite: &str,
        _contender: &Contender,
        built: Built,
        _jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        Ok(elsewhere(built))
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        backends::start_here(&self.process, wanted, None).await
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        swept(&self.process).await
    }
}
