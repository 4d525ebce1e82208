//! The runtime and the backends behind one interface, so that no other part needs to know which
//! ones they are.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use bakeoff_model::conditions::{BackendName, RuntimeKind};
use bakeoff_model::database_url::DatabaseUrl;
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::{Contender, Limits, ReplaySettings, Suite};
use bakeoff_runtime::backend::{
    self, Backend, BackendKind, BackendOptions, Databases, Elasticsearch, ReplayProcess,
};
use bakeoff_runtime::build::{self, Built};
use bakeoff_runtime::docker::DockerRuntime;
use bakeoff_runtime::external::External;
use bakeoff_runtime::kubernetes::{BackendPod, ClusterSettings};
use bakeoff_runtime::process::{ProcessOptions, ProcessRuntime, port_is_free};
use bakeoff_runtime::{BoxFuture, Runtime, StartError, sweep};

use super::builds::size_bytes;
use super::cluster::ClusterBed;
use super::contender::{Ready, resolve};
use super::images::{elsewhere, find_engine, in_image};
use crate::baseline::trees_folder;
use crate::contracts::BackendProbe;
use crate::hint::{hinted, of_cluster as plain};

/// How long a real backend is asked before contenders call it.
const WARM_UP: Duration = Duration::from_secs(10);
/// Heap of Elasticsearch, MiB: ample for the documents of the suites.
const ELASTICSEARCH_HEAP_MIB: u32 = 512;
/// How long a backend may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(20);

/// What runs contenders, and always local processes for the backends.
pub(super) struct Runtimes {
    process: ProcessRuntime,
    contenders: Contenders,
}

/// What runs contenders.
enum Contenders {
    /// The same local processes.
    Process,
    /// Local processes that are alive concurrently, each in a network of its own.
    SideBySide(Box<ProcessRuntime>),
    Docker(Box<DockerRuntime>),
    Kubernetes(Box<ClusterBed>),
    External,
}

/// What a runtime is started for.
#[derive(Debug)]
pub(super) struct WantedRuntime<'a> {
    pub(super) kind: RuntimeKind,
    /// What the user says about the cluster.
    pub(super) cluster: &'a ClusterSettings,
    pub(super) backend: BackendName,
    /// Recordings or data of the backend.
    pub(super) recordings: Option<PathBuf>,
}

impl Runtimes {
    /// Connects to the runtime of this name.
    pub(super) async fn start(wanted: WantedRuntime<'_>) -> anyhow::Result<Self> {
        let contenders = match wanted.kind {
            RuntimeKind::Docker => {
                Contenders::Docker(Box::new(DockerRuntime::new(find_engine().await?)))
            }
            RuntimeKind::Kubernetes => {
                let WantedRuntime {
                    cluster,
                    backend,
                    recordings,
                    ..
                } = wanted;
                let bed = ClusterBed::begin(cluster, backend, recordings).await?;
                Contenders::Kubernetes(Box::new(bed))
            }
            RuntimeKind::Process => Contenders::Process,
            RuntimeKind::External => Contenders::External,
        };
        Ok(Self {
            process: process_runtime()?,
            contenders,
        })
    }

    /// The same, for contenders that are alive concurrently. Local processes have a network each,
    /// or without root a port each.
    pub(super) async fn side_by_side(wanted: WantedRuntime<'_>) -> anyhow::Result<Self> {
        if wanted.kind != RuntimeKind::Process {
            return Self::start(wanted).await;
        }
        let contenders = match ProcessRuntime::side_by_side(process_options()?) {
            Ok(runtime) => Contenders::SideBySide(Box::new(runtime)),
            Err(_) => Contenders::Process,
        };
        Ok(Self {
            process: process_runtime()?,
            contenders,
        })
    }

    /// Whether contenders that are alive concurrently share a network, and listen on ports of their
    /// own.
    pub(super) fn share_network(&self) -> bool {
        matches!(self.contenders, Contenders::Process)
    }

    /// What contenders run on.
    pub(super) fn runtime(&self) -> &dyn Runtime {
        match &self.contenders {
            Contenders::Docker(docker) => docker.as_ref(),
            Contenders::Kubernetes(bed) => &bed.runtime,
            Contenders::Process => &self.process,
            Contenders::SideBySide(runtime) => runtime.as_ref(),
            Contenders::External => &External,
        }
    }

    fn docker(&self) -> Option<&DockerRuntime> {
        match &self.contenders {
            Contenders::Docker(docker) => Some(docker),
            Contenders::Process
            | Contenders::SideBySide(_)
            | Contenders::Kubernetes(_)
            | Contenders::External => None,
        }
    }

    /// The cluster, where contenders run in one.
    pub(super) fn cluster(&self) -> Option<&ClusterBed> {
        match &self.contenders {
            Contenders::Kubernetes(bed) => Some(bed),
            _ => None,
        }
    }

    /// Gives back what was made for the session, and waits until it is gone.
    pub(super) async fn close(self) -> anyhow::Result<()> {
        match self.contenders {
            Contenders::Kubernetes(bed) => bed.runtime.end().await.map_err(plain),
            _ => Ok(()),
        }
    }

    /// Removes what dead sessions left behind, on every runtime; one line a thing.
    pub(super) async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        let mut removed = self.process.sweep().await?;
        removed.extend(sweep::sweep_folders(&trees_folder())?);
        if let Some(docker) = self.docker() {
            removed.extend(docker.sweep().await?);
        }
        if let Some(bed) = self.cluster() {
            removed.extend(bed.runtime.sweep().await?);
        }
        Ok(removed)
    }

    /// Fails where processes of contenders could not listen: a whole session would fail after it.
    pub(super) fn port_is_free(&self, suite: &Suite) -> anyhow::Result<()> {
        if !matches!(self.contenders, Contenders::Process) {
            return Ok(());
        }
        free(
            &suite.name,
            suite.port,
            "end what listens there (another session?) or use --runtime docker",
        )
    }

    /// Versions of what the runtime itself consists of.
    pub(super) fn versions(&self) -> BTreeMap<String, String> {
        let docker = self.docker().into_iter();
        docker
            .map(|one| ("docker".to_owned(), one.engine().version().to_owned()))
            .collect()
    }

    /// Brings a built contender into the form that the runtime starts.
    pub(super) async fn make_ready(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        match &self.contenders {
            Contenders::Docker(docker) => {
                return in_image(docker.engine(), suite, contender, built, jvm_options).await;
            }
            Contenders::Kubernetes(bed) => {
                return bed.make_ready(suite, contender, built, jvm_options).await;
            }
            Contenders::External => return Ok(elsewhere(built)),
            Contenders::Process | Contenders::SideBySide(_) if contender.run.is_empty() => {
                let message = "it has no command, so it cannot be --runtime process";
                return Err(match contender.url {
                    Some(_) => hinted(message, "it runs already: use --runtime external"),
                    None => anyhow!(message),
                });
            }
            Contenders::Process | Contenders::SideBySide(_) => {}
        }
        let java = match contender.jdk {
            Some(major) => Some(build::java(major)?.display().to_string()),
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

    /// Starts a backend where the contenders of this runtime reach it.
    pub(super) async fn start_backend(
        &self,
        wanted: WantedBackend<'_>,
        suite: &Path,
        cores: &[usize],
        logs: &Path,
    ) -> anyhow::Result<RunningBackend> {
        let bed = self.cluster().filter(|_| wanted.server.is_none());
        if let Some(bed) = bed {
            let data = wanted.data.clone().unwrap_or_default();
            let kind = backend_kind(wanted, suite)?;
            let pod = bed.start_backend(&kind, &data).await?;
            return Ok(RunningBackend::Pod(pod));
        }
        let (listen, reach) = self.backend_addresses().await?;
        let (name, data, is_theirs) = (wanted.name, wanted.data.clone(), wanted.server.is_some());
        let kind = backend_kind(wanted, suite)?;
        let options = BackendOptions {
            kind,
            listen,
            port: None,
            cores: cores.to_vec(),
            limits: Limits::default(),
            data: data.with_context(|| format!("backend {name} names no `data`"))?,
            log_path: logs.canonicalize()?.join(format!("backend-{name}.log")),
        };
        let started = backend::start(&self.process, &options).await;
        let backend = started.map_err(|error| match error.hint() {
            Some(hint) => hinted(&error, hint),
            None => error.into(),
        })?;
        let listens = backend.address();
        if !is_theirs {
            let address = SocketAddr::new(reach, listens.port());
            return Ok(RunningBackend::Local { address, backend });
        }
        if listens.ip().is_loopback() && !reach.is_loopback() {
            return Err(hinted(
                format_args!("contenders have a network of their own and cannot reach {listens}"),
                match reach.is_unspecified() {
                    true => "let the server listen on an address that they reach, and name it"
                        .to_owned(),
                    false => format!("let the server listen on {reach} too, and name that address"),
                },
            ));
        }
        Ok(RunningBackend::Local {
            address: listens,
            backend,
        })
    }

    /// Where a backend listens, and where contenders reach it: those with a network of their own
    /// cannot reach this host's loopback, so for them it is the gateway of that network.
    async fn backend_addresses(&self) -> anyhow::Result<(IpAddr, IpAddr)> {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let gateway = match &self.contenders {
            Contenders::Docker(docker) => Some(docker.gateway().await?),
            Contenders::SideBySide(runtime) => runtime.gateway(),
            // What contenders reach is not known, and the loopback of this host is not it.
            Contenders::Kubernetes(_) => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            Contenders::Process | Contenders::External => None,
        };
        Ok(match gateway {
            Some(gateway) => (IpAddr::V4(Ipv4Addr::UNSPECIFIED), gateway),
            None => (loopback, loopback),
        })
    }
}

/// A backend as a session wants it.
#[derive(Debug)]
pub(super) struct WantedBackend<'a> {
    pub(super) name: BackendName,
    /// How the replay backend answers.
    pub(super) settings: ReplaySettings,
    /// The user's own server, instead of one that is started.
    pub(super) server: Option<&'a DatabaseUrl>,
    /// Its data or recordings.
    pub(super) data: Option<PathBuf>,
}

fn backend_kind(wanted: WantedBackend<'_>, suite: &Path) -> anyhow::Result<BackendKind> {
    Ok(match (wanted.name, wanted.server) {
        (BackendName::Postgres, Some(url)) => BackendKind::PostgresServer(url.clone()),
        (name, Some(url)) => bail!("{url} cannot be the backend {name}"),
        (BackendName::Replay, None) => BackendKind::Replay(ReplayProcess {
            program: std::env::current_exe()?,
            args: vec!["replay".into()],
            settings: wanted.settings,
        }),
        (name @ BackendName::Elasticsearch, None) => BackendKind::Elasticsearch(Elasticsearch {
            sources: module_folder(suite, name.name())?,
            cache: build::cache_dir(),
            heap_mib: ELASTICSEARCH_HEAP_MIB,
            warm_up: WARM_UP,
        }),
        (BackendName::Postgres, None) => BackendKind::Postgres,
        (BackendName::None, None) => bail!("no backend is wanted"),
    })
}

/// A started backend.
pub(super) enum RunningBackend {
    /// On this host.
    Local {
        /// Where contenders reach it.
        address: SocketAddr,
        backend: Backend,
    },
    /// In a cluster.
    Pod(BackendPod),
}

impl RunningBackend {
    /// Where contenders reach it.
    #[must_use]
    pub(super) fn address(&self) -> SocketAddr {
        match self {
            Self::Local { address, .. } => *address,
            Self::Pod(pod) => pod.address(),
        }
    }

    /// The databases of contenders, where it is a server of such.
    fn databases(&self) -> Option<&Databases> {
        match self {
            Self::Local { backend, .. } => backend.databases(),
            Self::Pod(pod) => pod.databases(),
        }
    }

    /// Name and password of contenders, where it has databases.
    pub(super) fn login(&self) -> Option<(&str, &str)> {
        self.databases().map(Databases::login)
    }

    /// The version of a database server.
    pub(super) async fn version(&self) -> Option<String> {
        self.databases()?.version().await
    }

    /// Stops it.
    pub(super) async fn stop(self) {
        if let Self::Local { backend, .. } = self {
            backend.stop(STOP_GRACE).await;
        }
    }
}

impl BackendProbe for RunningBackend {
    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(async move {
            match self {
                Self::Local { backend, .. } => backend.sample().await,
                Self::Pod(pod) => pod.sample().await,
            }
        })
    }

    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async move {
            match self {
                Self::Local { backend, .. } => backend.unknown_requests(),
                Self::Pod(pod) => pod.unknown_requests().await,
            }
        })
    }

    fn prepare<'a>(&'a self, contender: &'a str) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let Some(databases) = self.databases() else {
                // Contenders only read there.
                return Ok(());
            };
            let prepared = databases.prepare(contender).await;
            prepared.map_err(|error| error.to_string())
        })
    }

    fn query<'a>(
        &'a self,
        contender: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            let Some(databases) = self.databases() else {
                return Err("it has no databases".to_owned());
            };
            let found = databases.query(contender, query).await;
            found.map_err(|error| error.to_string())
        })
    }
}

/// The folder `backends/NAME` beside `suites/`, or further up.
fn module_folder(suite: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let found = suite
        .ancestors()
        .map(|folder| folder.join("backends").join(name));
    let found = found
        .into_iter()
        .find(|folder| folder.join("pom.xml").is_file());
    found.with_context(|| format!("no backends/{name} beside or above {}", suite.display()))
}

/// The runtime of local processes, entering their cgroups through this very binary.
///
/// # Errors
/// No folder for temporary files can be made.
pub fn process_runtime() -> anyhow::Result<ProcessRuntime> {
    let runtime = ProcessRuntime::new(process_options()?);
    runtime.context("cannot make a folder for temporary files")
}

pub(super) fn process_options() -> anyhow::Result<ProcessOptions> {
    let shim = std::env::current_exe().context("cannot find this program's own file")?;
    Ok(ProcessOptions {
        shim,
        shim_args: vec![OsString::from("shim")],
        run_base: sweep::run_base(),
    })
}

/// Fails where processes could not listen on a port, with what to do where another one does.
pub(crate) fn free(label: &str, port: u16, taken: &str) -> anyhow::Result<()> {
    port_is_free(label, port).map_err(|error| {
        let hint = match &error {
            StartError::PortInUse { .. } => Some(taken.to_owned()),
            _ => error.hint(),
        };
        match hint {
            Some(hint) => hinted(error, hint),
            None => error.into(),
        }
    })
}
