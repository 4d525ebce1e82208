//! Contenders as containers of a Docker engine, on this host unless another platform says so.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use async_trait::async_trait;
use bakeoff_build::Built;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::suite::Contender;

use crate::Runtime;
use crate::contender::Ready;
use crate::docker::{DockerRuntime, Engine};
use crate::images::in_image;
use crate::local::ProcessRuntime;
use crate::place::backends::{self, RunningBackend, WantedBackend};
use crate::place::launch::{Launched, Setting, start_container, start_program};
use crate::place::{GC_LOG_IN_CONTAINERS, Platform};
use crate::this_host::{process_runtime, swept};

/// Containers.
pub(crate) struct DockerPlatform {
    docker: DockerRuntime,
    /// For backends and dependencies.
    process: ProcessRuntime,
}

impl DockerPlatform {
    pub(crate) fn new(engine: Engine) -> anyhow::Result<Self> {
        Ok(Self {
            docker: DockerRuntime::new(engine),
            process: process_runtime()?,
        })
    }
}

#[async_trait(?Send)]
impl Platform for DockerPlatform {
    fn runtime(&self) -> &dyn Runtime {
        &self.docker
    }

    async fn make_ready(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        in_image(self.docker.engine(), suite, contender, built, jvm_options).await
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        let gateway = self.docker.gateway().await?;
        backends::start_here(&self.process, wanted, Some(gateway)).await
    }

    fn check_dependency(&self, _wanted: &Dependency) -> anyhow::Result<()> {
        Ok(())
    }

    async fn start_dependency(
        &self,
        wanted: &Dependency,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Launched> {
        if let Some(image) = &wanted.image {
            return start_container(&self.docker, image, wanted, setting, known).await;
        }
        let gateway = self.docker.gateway().await?;
        start_program(&self.process, wanted, setting, known, Some(gateway)).await
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        let mut removed = swept(&self.process).await?;
        removed.extend(self.docker.sweep().await?);
        Ok(removed)
    }

    fn versions(&self) -> BTreeMap<String, String> {
        let version = self.docker.engine().version().to_owned();
        BTreeMap::from([("docker".to_owned(), version)])
    }

    fn pins_cores(&self) -> bool {
        true
    }

    fn gc_log_inside(&self) -> Option<&'static Path> {
        Some(Path::new(GC_LOG_IN_CONTAINERS))
    }
}
