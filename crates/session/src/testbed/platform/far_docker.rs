//! Contenders as containers of an engine on another host. They share that host's network; load and
//! backend are of this host.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use async_trait::async_trait;
use bakeoff_model::conditions::BackendName;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::nodes::Nodes;
use bakeoff_model::record::Host;
use bakeoff_model::suite::Contender;
use bakeoff_runtime::build::Built;
use bakeoff_runtime::docker::{DockerRuntime, Engine, FarHost};
use bakeoff_runtime::process::ProcessRuntime;
use bakeoff_runtime::{Runtime, host};

use super::{Elsewhere, GC_LOG_IN_CONTAINERS, Platform};
use crate::hint::hinted;
use crate::selection;
use crate::testbed::backends::{self, RunningBackend, WantedBackend};
use crate::testbed::contender::Ready;
use crate::testbed::images::{find_engine, in_image};
use crate::testbed::this_host::{process_runtime, swept};

/// Containers of another host.
pub(super) struct FarDockerPlatform {
    docker: DockerRuntime,
    far: FarHost,
    nodes: Nodes,
    /// For backends.
    process: ProcessRuntime,
}

impl FarDockerPlatform {
    pub(super) fn new(engine: Engine, far: FarHost, backend: BackendName) -> anyhow::Result<Self> {
        Ok(Self {
            nodes: nodes(&far, backend),
            docker: DockerRuntime::new(engine),
            far,
            process: process_runtime()?,
        })
    }
}

/// Returns the host of an engine that is on another one.
///
/// # Errors
/// It does not answer, or is on this host after all.
pub(super) async fn describe(backend: BackendName) -> anyhow::Result<Elsewhere> {
    let engine = find_engine().await?;
    let far = engine.far_host().context("the engine is on this host")?;
    let words = nodes(far, backend).words();
    let mut notes = vec![format!("containers of {}: {words}", engine.host())];
    notes.extend(nodes(far, backend).sharing());
    Ok(Elsewhere {
        node: far.name.clone(),
        memory_bytes: Some(far.host.memory_bytes),
        notes,
    })
}

/// Which part is on which host.
fn nodes(far: &FarHost, backend: BackendName) -> Nodes {
    let here = host::name();
    Nodes {
        contender: far.name.clone(),
        generators: vec![here.clone()],
        backend: (backend != BackendName::None).then(|| here.clone()),
        cores: BTreeMap::from([
            (here, selection::host_cores()),
            (far.name.clone(), far.host.cores),
        ]),
    }
}

#[async_trait(?Send)]
impl Platform for FarDockerPlatform {
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
        if let Some(mount) = contender.image_volumes.first() {
            return Err(hinted(
                format_args!(
                    "the volume {mount} is of this host, which {} does not see",
                    self.far.name
                ),
                "put its files into the image",
            ));
        }
        in_image(self.docker.engine(), suite, contender, built, jvm_options).await
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        let here = self.docker.gateway().await?;
        backends::start_here(&self.process, wanted, Some(here)).await
    }

    fn check_dependency(&self, wanted: &Dependency) -> anyhow::Result<()> {
        Err(hinted(
            format_args!(
                "dependency {}: containers of {} share its network, in which it would have no name",
                wanted.name, self.far.name
            ),
            "run bakeoff on that host, with its own engine",
        ))
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        let mut removed = swept(&self.process).await?;
        removed.extend(self.docker.sweep().await?);
        Ok(removed)
    }

    fn host(&self) -> Host {
        self.far.host.clone()
    }

    fn host_cores(&self) -> usize {
        self.far.host.cores
    }

    fn nodes(&self) -> Option<Nodes> {
        Some(self.nodes.clone())
    }

    fn versions(&self) -> BTreeMap<String, String> {
        let version = self.docker.engine().version().to_owned();
        BTreeMap::from([("docker".to_owned(), version)])
    }

    fn shares_network(&self) -> bool {
        true
    }

    fn gc_log_inside(&self) -> Option<&'static Path> {
        Some(Path::new(GC_LOG_IN_CONTAINERS))
    }
}
