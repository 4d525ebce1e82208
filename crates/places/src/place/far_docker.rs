//! Contenders as containers of an engine on another host. They share that host's network; load and
//! backend are of this host.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_build::Built;
use bakeoff_model::conditions::BackendName;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::nodes::Nodes;
use bakeoff_model::record::Host;
use bakeoff_model::suite::Contender;

use crate::contender::Ready;
use crate::docker::FarHost;
use crate::images::find_engine;
use crate::place::backends::{RunningBackend, WantedBackend};
use crate::place::far::with_load;
use crate::place::{Elsewhere, Platform, Reached, without_volumes};
use crate::ssh::SshHost;
use crate::{Runtime, host};

/// Containers of another host.
pub(crate) struct FarDockerPlatform {
    /// The part that does not depend on where the engine is.
    containers: Box<dyn Platform>,
    far: FarHost,
    nodes: Nodes,
}

impl FarDockerPlatform {
    /// `containers` are those of the engine on that host.
    pub(crate) fn new(containers: Box<dyn Platform>, far: FarHost, backend: BackendName) -> Self {
        Self {
            nodes: nodes(&far, backend),
            containers,
            far,
        }
    }
}

/// Returns the host of an engine that is on another one; `load` is that of the load generator,
/// where it is a third.
///
/// # Errors
/// It does not respond, or is on this host after all.
pub(crate) async fn describe(
    load: Option<&SshHost>,
    backend: BackendName,
) -> anyhow::Result<Elsewhere> {
    let engine = find_engine().await?;
    let far = engine.far_host().context("the engine is on this host")?;
    let nodes = nodes(far, backend);
    let nodes = match load {
        Some(load) => with_load(nodes, load),
        None => nodes,
    };
    let mut notes = vec![format!(
        "containers of {}: {}",
        engine.host(),
        nodes.describe()
    )];
    notes.extend(nodes.sharing());
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
            (here, host::host_cores()),
            (far.name.clone(), far.host.cores),
        ]),
        clocks: BTreeMap::default(),
    }
}

#[async_trait(?Send)]
impl Platform for FarDockerPlatform {
    fn runtime(&self) -> &dyn Runtime {
        self.containers.runtime()
    }

    async fn make_ready(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        without_volumes(contender, format_args!("{} does not", self.far.name))?;
        let making = self
            .containers
            .make_ready(suite, contender, built, jvm_options);
        making.await
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        self.containers.start_backend(wanted).await
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
        self.containers.sweep().await
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
        self.containers.versions()
    }

    fn shares_network(&self) -> bool {
        true
    }

    async fn reached(&self) -> anyhow::Result<Option<Reached>> {
        Ok(Some(Reached {
            address: self.far.reached,
            is_ssh: true,
        }))
    }

    fn gc_log_inside(&self) -> Option<&'static Path> {
        self.containers.gc_log_inside()
    }
}
