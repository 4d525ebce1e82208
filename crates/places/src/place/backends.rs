//! Backends: the wanted ones, and the running ones.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_model::conditions::BackendName;
use bakeoff_model::database_url::DatabaseUrl;
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::{Limits, ReplaySettings};

use crate::BoxFuture;
use crate::contracts::BackendProbe;
use crate::kubernetes::BackendPod;
use crate::local::ProcessRuntime;
use crate::services::{
    Backend, BackendKind, BackendOptions, Databases, Elasticsearch, ReplayProcess, start,
};

/// How long a real backend is asked before contenders call it.
const WARM_UP: Duration = Duration::from_secs(10);
/// Heap of Elasticsearch, MiB: ample for the documents of the suites.
const ELASTICSEARCH_HEAP_MIB: u32 = 512;
/// How long a backend may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(20);

/// A backend as a session wants it.
#[derive(Debug)]
pub struct WantedBackend<'a> {
    /// The backend.
    pub name: BackendName,
    /// How the replay backend responds.
    pub settings: ReplaySettings,
    /// The user's own server, instead of one that is started.
    pub server: Option<&'a DatabaseUrl>,
    /// Its data or recordings.
    pub data: Option<PathBuf>,
    /// Folder of the suite.
    pub suite: &'a Path,
    /// The cores on which it runs; all where empty.
    pub cores: &'a [usize],
    /// Where its log goes.
    pub logs: &'a Path,
}

impl WantedBackend<'_> {
    /// How it is started.
    pub fn kind(&self) -> anyhow::Result<BackendKind> {
        Ok(match (self.name, self.server) {
            (BackendName::Postgres, Some(url)) => BackendKind::PostgresServer(url.clone()),
            (name, Some(url)) => bail!("{url} cannot be the backend {name}"),
            (BackendName::Replay, None) => BackendKind::Replay(ReplayProcess {
                program: std::env::current_exe()?,
                args: vec!["replay".into()],
                settings: self.settings,
            }),
            (name @ BackendName::Elasticsearch, None) => {
                BackendKind::Elasticsearch(Elasticsearch {
                    sources: module_folder(self.suite, name.name())?,
                    cache: bakeoff_build::cache_dir(),
                    heap_mib: ELASTICSEARCH_HEAP_MIB,
                    warm_up: WARM_UP,
                })
            }
            (BackendName::Postgres, None) => BackendKind::Postgres,
            (BackendName::None | BackendName::Dependencies, None) => {
                bail!("no backend is wanted")
            }
        })
    }
}

/// The folder `backends/NAME` next to `suites/`, or further up.
fn module_folder(suite: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let found = suite
        .ancestors()
        .map(|folder| folder.join("backends").join(name));
    let found = found
        .into_iter()
        .find(|folder| folder.join("pom.xml").is_file());
    found.with_context(|| format!("no backends/{name} next to or above {}", suite.display()))
}

/// A started backend.
#[async_trait(?Send)]
pub trait RunningBackend: BackendProbe {
    /// Where contenders reach it; `None` where there are dependencies only.
    fn address(&self) -> Option<SocketAddr>;

    /// Returns where contenders reach the dependencies, by their names.
    fn addresses(&self) -> BTreeMap<String, SocketAddr> {
        BTreeMap::new()
    }

    /// The databases of contenders, where it is a server of such.
    fn databases(&self) -> Option<&Databases>;

    /// Stops it.
    async fn stop(self: Box<Self>);
}

/// A backend on this host.
struct LocalBackend {
    /// Where contenders reach it.
    address: SocketAddr,
    backend: Backend,
}

/// Starts a backend on this host. `gateway` is where contenders reach this host whose networks have
/// no way to its loopback.
pub(crate) async fn start_here(
    process: &ProcessRuntime,
    wanted: &WantedBackend<'_>,
    gateway: Option<IpAddr>,
) -> anyhow::Result<Box<dyn RunningBackend>> {
    let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let (listen, reach) = match gateway {
        Some(gateway) => (IpAddr::V4(Ipv4Addr::UNSPECIFIED), gateway),
        None => (loopback, loopback),
    };
    let (name, data) = (wanted.name, wanted.data.clone());
    let options = BackendOptions {
        kind: wanted.kind()?,
        listen,
        port: None,
        cores: wanted.cores.to_vec(),
        limits: Limits::default(),
        data: data.with_context(|| format!("backend {name} names no `data`"))?,
        log_path: wanted
            .logs
            .canonicalize()?
            .join(format!("backend-{name}.log")),
    };
    let backend = start(process, &options).await?;
    let listens = backend.address();
    let address = match wanted.server {
        None => SocketAddr::new(reach, listens.port()),
        Some(_) if listens.ip().is_loopback() && !reach.is_loopback() => {
            return Err(hinted(
                format_args!("contenders have separate networks and cannot reach {listens}"),
                match reach.is_unspecified() {
                    true => "let the server listen on an address that they reach, and name it"
                        .to_owned(),
                    false => format!("let the server listen on {reach} too, and name that address"),
                },
            ));
        }
        Some(_) => listens,
    };
    Ok(Box::new(LocalBackend { address, backend }))
}

#[async_trait(?Send)]
impl RunningBackend for LocalBackend {
    fn address(&self) -> Option<SocketAddr> {
        Some(self.address)
    }

    fn databases(&self) -> Option<&Databases> {
        self.backend.databases()
    }

    async fn stop(self: Box<Self>) {
        self.backend.stop(STOP_GRACE).await;
    }
}

impl BackendProbe for LocalBackend {
    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(self.backend.sample())
    }

    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(self.backend.ended())
    }

    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(async { self.backend.unknown_requests() })
    }

    fn prepare<'a>(&'a self, contender: &'a str) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(prepare(self.databases(), contender))
    }

    fn query<'a>(
        &'a self,
        contender: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>> {
        Box::pin(self::query(self.databases(), contender, query))
    }
}

/// In a cluster; it ends with the session's namespace.
#[async_trait(?Send)]
impl RunningBackend for BackendPod {
    fn address(&self) -> Option<SocketAddr> {
        Some(Self::address(self))
    }

    fn databases(&self) -> Option<&Databases> {
        Self::databases(self)
    }

    async fn stop(self: Box<Self>) {}
}

impl BackendProbe for BackendPod {
    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(Self::sample(self))
    }

    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        Box::pin(Self::unknown_requests(self))
    }

    fn prepare<'a>(&'a self, contender: &'a str) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(prepare(Self::databases(self), contender))
    }

    fn query<'a>(
        &'a self,
        contender: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>> {
        Box::pin(self::query(Self::databases(self), contender, query))
    }
}

/// Empties the contender's database; of other backends contenders only read.
async fn prepare(databases: Option<&Databases>, contender: &str) -> Result<(), Problem> {
    match databases {
        Some(databases) => databases.prepare(contender).await,
        None => Ok(()),
    }
}

async fn query(
    databases: Option<&Databases>,
    contender: &str,
    query: &str,
) -> Result<String, Problem> {
    let databases = databases.ok_or("it has no databases")?;
    databases.query(contender, query).await
}
