//! Services of this host, for contenders here or elsewhere.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::dependency::Dependency;

use crate::docker::DockerRuntime;
use crate::local::ProcessRuntime;
use crate::place::launch::{start_container, start_program};
use crate::services::dependency::fill;
use crate::services::{
    BackendKind, BackendOptions, Elasticsearch, ReplayProcess, Service, ServiceHost, Setting,
    WantedBackend, WantedService, start,
};

/// How long a real backend is asked before contenders call it.
const WARM_UP: Duration = Duration::from_secs(10);
/// Heap of Elasticsearch, MiB: ample for the documents of the suites.
const ELASTICSEARCH_HEAP_MIB: u32 = 512;

/// Starts services as programs of this host, and as containers if contenders are containers of its
/// engine.
pub(crate) struct ServicesHere {
    pub(crate) process: Arc<ProcessRuntime>,
    pub(crate) reach: Reach,
    pub(crate) containers: Containers,
}

/// Where contenders reach this host.
pub(crate) enum Reach {
    /// At this host's loopback address.
    Loopback,
    /// At this address of the host.
    Address(IpAddr),
    /// At the network of containers, which is made when it is needed.
    Bridge(Arc<DockerRuntime>),
}

impl Reach {
    async fn address(&self) -> anyhow::Result<Option<IpAddr>> {
        Ok(match self {
            Self::Loopback => None,
            Self::Address(address) => Some(*address),
            Self::Bridge(docker) => Some(docker.gateway().await?),
        })
    }
}

/// Whether containers can be services.
pub(crate) enum Containers {
    /// Contenders reach the containers by their names.
    Of(Arc<DockerRuntime>),
    /// No container can: why, and what to do.
    Refused(String, &'static str),
}

impl Containers {
    /// The refusal for contenders that are processes of this host.
    pub(crate) fn of_processes() -> Self {
        Self::Refused(
            "it is a container, and contenders are processes".to_owned(),
            "use --runtime docker, or give it the `command` of a program of this host",
        )
    }
}

#[async_trait(?Send)]
impl ServiceHost for ServicesHere {
    fn check(&self, wanted: &Dependency) -> anyhow::Result<()> {
        match &self.containers {
            Containers::Refused(why, hint) if wanted.image.is_some() => Err(hinted(
                format_args!("dependency {}: {why}", wanted.name),
                hint,
            )),
            _ => Ok(()),
        }
    }

    async fn start(
        &self,
        wanted: &WantedService<'_>,
        setting: &Setting<'_>,
        known: &BTreeMap<String, SocketAddr>,
    ) -> anyhow::Result<Box<dyn Service>> {
        let one = match wanted {
            WantedService::Backend(one) => return self.backend(one, setting).await,
            WantedService::Dependency(one) => *one,
        };
        let gateway = self.reach.address().await?;
        let launched = match (&one.image, &self.containers) {
            (Some(image), Containers::Of(docker)) => {
                start_container(docker, image, one, setting, known).await?
            }
            _ => start_program(&self.process, one, setting, known, gateway).await?,
        };
        fill(launched, one, setting).await
    }
}

impl ServicesHere {
    async fn backend(
        &self,
        wanted: &WantedBackend<'_>,
        setting: &Setting<'_>,
    ) -> anyhow::Result<Box<dyn Service>> {
        let loopback = IpAddr::V4(Ipv4Addr::LOCALHOST);
        let (listen, reach) = match self.reach.address().await? {
            Some(gateway) => (IpAddr::V4(Ipv4Addr::UNSPECIFIED), gateway),
            None => (loopback, loopback),
        };
        let (name, data) = (wanted.name, wanted.data.clone());
        let options = BackendOptions {
            kind: kind(wanted, setting.suite)?,
            listen,
            port: None,
            cores: setting.cores.to_vec(),
            limits: Limits::default(),
            data: data.with_context(|| format!("backend {name} names no `data`"))?,
            log_path: { setting.logs.canonicalize()? }.join(format!("backend-{name}.log")),
        };
        let mut backend = start(&self.process, &options).await?;
        let listens = backend.listens();
        if wanted.server.is_none() {
            backend.set_reached(SocketAddr::new(reach, listens.port()));
        } else if listens.ip().is_loopback() && !reach.is_loopback() {
            return Err(hinted(
                format_args!("contenders have separate networks and cannot reach {listens}"),
                match reach.is_unspecified() {
                    true => "let the server listen on an address that they reach, and name it"
                        .to_owned(),
                    false => format!("let the server listen on {reach} too, and name that address"),
                },
            ));
        }
        Ok(Box::new(backend))
    }
}

/// How a backend is started for a suite in this folder.
pub(super) fn kind(wanted: &WantedBackend<'_>, suite: &Path) -> anyhow::Result<BackendKind> {
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
            cache: bakeoff_build::cache_dir(),
            heap_mib: ELASTICSEARCH_HEAP_MIB,
            warm_up: WARM_UP,
        }),
        (BackendName::Postgres, None) => BackendKind::Postgres,
        (BackendName::None | BackendName::Dependencies, None) => bail!("no backend is wanted"),
    })
}

/// The folder `backends/NAME` next to `suites/`, or further up.
fn module_folder(suite: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let folders = suite.ancestors();
    let mut folders = folders.map(|folder| folder.join("backends").join(name));
    let found = folders.find(|folder| folder.join("pom.xml").is_file());
    found.with_context(|| format!("no backends/{name} next to or above {}", suite.display()))
}
