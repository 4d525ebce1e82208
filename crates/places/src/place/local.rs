//! Contenders as processes of this host.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_build::Built;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::suite::{Contender, Suite};

use crate::Runtime;
use crate::contender::{Ready, has_command, resolve, size_bytes};
use crate::local::ProcessRuntime;
use crate::place::Platform;
use crate::place::backends::{self, RunningBackend, WantedBackend};
use crate::place::launch::{Launched, Setting, start_program};
use crate::this_host::{free, process_options, process_runtime, swept};

/// Local processes.
pub(crate) struct ProcessPlatform {
    process: ProcessRuntime,
    /// Those that are alive concurrently, each in a separate network; without root there are no
    /// networks.
    apart: Option<ProcessRuntime>,
}

impl ProcessPlatform {
    pub(crate) fn new(side_by_side: bool) -> anyhow::Result<Self> {
        let apart = match side_by_side {
            true => ProcessRuntime::side_by_side(process_options()?).ok(),
            false => None,
        };
        Ok(Self {
            process: process_runtime()?,
            apart,
        })
    }
}

#[async_trait(?Send)]
impl Platform for ProcessPlatform {
    fn runtime(&self) -> &dyn Runtime {
        self.apart.as_ref().unwrap_or(&self.process)
    }

    async fn make_ready(
        &self,
        _suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        has_command(contender)?;
        let java = match contender.jdk {
            Some(major) => Some(bakeoff_build::java(major)?.display().to_string()),
            None => None,
        };
        let artifact = built.artifact.as_ref().map(|one| one.path.as_path());
        let path = artifact.map(|path| path.display().to_string());
        let (command, probes) = resolve(contender, path.unwrap_or_default(), java, jvm_options)?;
        let artifact_bytes = artifact.and_then(size_bytes);
        Ok(Ready {
            command,
            probes,
            workdir: built.workdir.clone(),
            built,
            image: None,
            image_digest: None,
            artifact_bytes,
        })
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        // Contenders in separate networks cannot reach this host's loopback.
        let gateway = self.apart.as_ref().and_then(ProcessRuntime::gateway);
        backends::start_here(&self.process, wanted, gateway).await
    }

    fn check_dependency(&self, wanted: &Dependency) -> anyhow::Result<()> {
        match wanted.image {
            Some(_) => Err(hinted(
                format_args!("dependency {} is a container", wanted.name),
                "use --runtime docker, or give it the `command` of a program of this host",
            )),
            None => Ok(()),
        }
    }

    async fn start_dependency(
        &self,
        wanted: &Dependency,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Launched> {
        let gateway = self.apart.as_ref().and_then(ProcessRuntime::gateway);
        start_program(&self.process, wanted, setting, known, gateway).await
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        swept(&self.process).await
    }

    fn unlimited_because(&self) -> Option<String> {
        let enforcement = self.runtime().enforcement();
        enforcement.unlimited_because().map(str::to_owned)
    }

    fn pins_cores(&self) -> bool {
        true
    }

    fn shares_network(&self) -> bool {
        self.apart.is_none()
    }

    fn check(&self, suite: &Suite) -> anyhow::Result<()> {
        if self.apart.is_some() {
            return Ok(());
        }
        free(
            &suite.name,
            suite.port,
            "end what listens there (another session?) or use --runtime docker",
        )
    }
}
