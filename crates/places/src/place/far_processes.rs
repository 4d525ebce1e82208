//! Contenders as processes of another host, which is reached by SSH. They share that host's
//! network; the backend is of this host.

use std::collections::BTreeMap;
use std::path::PathBuf;

use async_trait::async_trait;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_build::Built;
use bakeoff_model::conditions::BackendName;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::nodes::Nodes;
use bakeoff_model::record::Host;
use bakeoff_model::suite::Contender;

use crate::contender::{Ready, has_command, resolve, size_bytes};
use crate::local::ProcessRuntime;
use crate::place::backends::{self, RunningBackend, WantedBackend};
use crate::place::far::{open, with_load};
use crate::place::{Elsewhere, Platform, Reached};
use crate::ssh::{SshAddress, SshHost, SshRuntime};
use crate::this_host::{process_runtime, swept};
use crate::{Runtime, host};

/// Processes of another host.
pub(crate) struct FarProcessPlatform {
    runtime: SshRuntime,
    /// For backends.
    process: ProcessRuntime,
    nodes: Nodes,
}

impl FarProcessPlatform {
    pub(crate) async fn new(address: &SshAddress, backend: BackendName) -> anyhow::Result<Self> {
        let far = open(address).await?;
        let clock = far.clock().await.map_err(with_hints)?;
        Ok(Self {
            nodes: Nodes {
                clocks: BTreeMap::from([(far.name().to_owned(), clock.wall)]),
                ..nodes(&far, backend)
            },
            runtime: SshRuntime::begin(far).await.map_err(with_hints)?,
            process: process_runtime()?,
        })
    }

    fn name(&self) -> &str {
        self.runtime.host().name()
    }
}

/// Returns the host of contenders; `load` is that of the load generator, where it is another one.
///
/// # Errors
/// It cannot be reached.
pub(crate) async fn describe(
    address: &SshAddress,
    load: Option<&SshHost>,
    backend: BackendName,
) -> anyhow::Result<Elsewhere> {
    let far = open(address).await?;
    let nodes = nodes(&far, backend);
    let nodes = match load {
        Some(load) => with_load(nodes, load),
        None => nodes,
    };
    let mut notes = vec![format!("processes of {address}: {}", nodes.describe())];
    notes.extend(nodes.sharing());
    Ok(Elsewhere {
        node: far.name().to_owned(),
        memory_bytes: Some(far.host().memory_bytes),
        notes,
    })
}

/// Which part is on which host, with load from here.
fn nodes(far: &SshHost, backend: BackendName) -> Nodes {
    let here = host::name();
    Nodes {
        contender: far.name().to_owned(),
        generators: vec![here.clone()],
        backend: (backend != BackendName::None).then(|| here.clone()),
        cores: BTreeMap::from([
            (here, host::host_cores()),
            (far.name().to_owned(), far.host().cores),
        ]),
        clocks: BTreeMap::default(),
    }
}

#[async_trait(?Send)]
impl Platform for FarProcessPlatform {
    fn runtime(&self) -> &dyn Runtime {
        &self.runtime
    }

    async fn make_ready(
        &self,
        _suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        has_command(contender)?;
        if let Some(major) = contender.jdk {
            return Err(hinted(
                format_args!(
                    "it runs on JDK {major} of this host, which {} lacks",
                    self.name()
                ),
                "name the `java` of that host in `run` and leave `jdk` out, or use --runtime \
                 docker with DOCKER_HOST",
            ));
        }
        let far = self.runtime.host();
        let artifact = built.artifact.as_ref().map(|one| one.path.as_path());
        let path = match artifact {
            Some(path) => far.send_file(path).await.map_err(with_hints)?,
            None => String::new(),
        };
        let (command, probes) = resolve(contender, path, None, jvm_options)?;
        let sending = far.send_command(&built.workdir, &command);
        let (workdir, command) = sending.await.map_err(with_hints)?;
        Ok(Ready {
            command,
            probes,
            workdir: PathBuf::from(workdir),
            artifact_bytes: artifact.and_then(size_bytes),
            built,
            image: None,
            image_digest: None,
        })
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        let gateway = Some(self.runtime.gateway());
        backends::start_here(&self.process, wanted, gateway).await
    }

    fn check_dependency(&self, wanted: &Dependency) -> anyhow::Result<()> {
        Err(hinted(
            format_args!(
                "dependency {}: dependencies run on this host, and contenders on {}",
                wanted.name,
                self.name()
            ),
            "run bakeoff on that host",
        ))
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        let mut removed = swept(&self.process).await?;
        removed.extend(self.runtime.sweep().await?);
        Ok(removed)
    }

    fn host(&self) -> Host {
        Host {
            round_trip_ns: Some(self.runtime.round_trip_ns()),
            ..self.runtime.host().host().clone()
        }
    }

    fn host_cores(&self) -> usize {
        self.runtime.host().host().cores
    }

    fn nodes(&self) -> Option<Nodes> {
        Some(self.nodes.clone())
    }

    fn unlimited_because(&self) -> Option<String> {
        let enforcement = self.runtime.enforcement();
        let why = enforcement.unlimited_because();
        why.map(|why| format!("on {}: {why}", self.name()))
    }

    fn shares_network(&self) -> bool {
        true
    }

    async fn reached(&self) -> anyhow::Result<Option<Reached>> {
        Ok(Some(Reached {
            address: self.runtime.reached(),
            is_ssh: true,
        }))
    }
}
