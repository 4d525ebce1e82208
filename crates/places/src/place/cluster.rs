//! Contenders in a Kubernetes cluster: the nodes of the parts, the way of images to the nodes, and
//! the Pods that are started there.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, anyhow, bail};
use async_trait::async_trait;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_base::problem::Problem;
use bakeoff_build::Built;
use bakeoff_model::check::{Check, ReceivedResponse};
use bakeoff_model::conditions::BackendName;
use bakeoff_model::nodes::Nodes as Placed;
use bakeoff_model::record::{Cores, GeneratorCeiling, Host};
use bakeoff_model::suite::Contender;
use tokio::sync::OnceCell;

use crate::client::{self, RESPONSE_LIMIT};
use crate::contender::Ready;
use crate::contracts::{Client, Destination, LoadGenerator};
use crate::docker::{
    Engine, ImageSpec, artifact_in_image, base_hint, base_reference, java_in_image,
};
use crate::http::HttpRequest;
use crate::images::{self, Delivery, elsewhere, find_engine, in_image};
use crate::kubernetes::{
    BackendPod, Cluster, ClusterRequest, ClusterSettings, KubernetesRuntime, NodeImage, Nodes,
    PodImage,
};
use crate::local::ProcessRuntime;
use crate::place::backends::{self, RunningBackend, WantedBackend};
use crate::place::pods::in_pods;
use crate::place::{GC_LOG_IN_CONTAINERS, Platform, without_volumes};
use crate::services::{BackendKind, Elasticsearch, elasticsearch};
use crate::sweep::RunFolder;
use crate::this_host::{process_runtime, swept};
use crate::{BoxFuture, Runtime};

/// A cluster that responds, with the place of each part.
#[derive(Debug)]
pub struct Connected {
    /// The cluster.
    pub cluster: Cluster,
    /// Where parts go.
    pub nodes: Nodes,
    /// The map of the parts.
    pub placed: Placed,
}

impl Connected {
    /// The map in words, and what a user should know about it, a sentence each.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let context = self.cluster.context();
        let map = format!("in the cluster {context}: {}", self.placed.describe());
        let node = &self.nodes.contender;
        let short = node.pressure.iter();
        let short = short.map(|what| format!("the contender's node {} has {what}", node.name));
        let mut notes = vec![map];
        notes.extend(self.placed.sharing());
        notes.extend(short);
        notes
    }
}

/// Finds the cluster and places the parts.
///
/// # Errors
/// It does not respond, or has no node that takes Pods.
pub async fn connect(
    settings: &ClusterSettings,
    backend: BackendName,
) -> anyhow::Result<Connected> {
    let cluster = Cluster::find(settings.context.as_deref()).await;
    let cluster = cluster.map_err(with_hints)?;
    let nodes = cluster.nodes().await.map_err(with_hints)?;
    let known = |name: &&String| !nodes.iter().any(|node| node.name == **name);
    if let Some(name) = settings.load_nodes.iter().find(known) {
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        return Err(hinted(
            format_args!("--load-nodes {name}: no such node takes Pods"),
            format_args!("these do: {}", names.join(", ")),
        ));
    }
    let spread = match settings.load_nodes.is_empty() {
        true => Nodes::spread(&nodes),
        false => Nodes::with_generators(&nodes, &settings.load_nodes),
    };
    let nodes = spread.with_context(|| {
        format!(
            "the cluster {} has no node that takes Pods",
            cluster.context()
        )
    })?;
    Ok(Connected {
        placed: nodes.placed(settings.load_pods(), backend != BackendName::None),
        cluster,
        nodes,
    })
}

/// Returns the program that runs in Pods.
///
/// # Errors
/// This program's own file is gone.
pub fn pod_program(settings: &ClusterSettings) -> anyhow::Result<PathBuf> {
    match &settings.program {
        Some(program) => Ok(program.clone()),
        None => std::env::current_exe().context("cannot find this program's own file"),
    }
}

/// Contenders in a cluster.
pub struct ClusterPlatform {
    runtime: KubernetesRuntime,
    delivery: Delivery,
    /// Archives on their way to the nodes.
    folder: RunFolder,
    engine: OnceCell<Engine>,
    /// For what runs on this host all the same: a database server of the user's own is asked from
    /// here.
    process: ProcessRuntime,
    /// Images that were delivered: as the engine knows them, as Pods name them.
    delivered: Mutex<BTreeMap<String, NodeImage>>,
}

impl ClusterPlatform {
    /// Connects, brings this program to the nodes and starts the other parts. `recordings` are
    /// those of the replay backend, if that is wanted.
    pub async fn begin(
        settings: &ClusterSettings,
        backend: BackendName,
        recordings: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let Connected { cluster, nodes, .. } = connect(settings, backend).await?;
        let delivery = Delivery::of(settings, cluster.context());
        let folder = RunFolder::temporary()?;
        let engine = OnceCell::new();
        let program = pod_program(settings)?;
        let image = match &delivery {
            Delivery::Loader(command) => {
                load_program(program, recordings, folder.path(), command).await?
            }
            Delivery::Registry(prefix) => {
                let engine = engine.get_or_try_init(find_engine).await?;
                images::push_program(engine, &program, recordings, prefix).await?
            }
            Delivery::Nothing => return Err(no_delivery(cluster.context())),
        };
        let order = ClusterRequest {
            cluster,
            namespace: settings.namespace.clone(),
            nodes,
            load_pods: settings.load_pods(),
            image,
        };
        Ok(Self {
            runtime: KubernetesRuntime::begin(order).await.map_err(with_hints)?,
            delivery,
            folder,
            engine,
            process: process_runtime()?,
            delivered: Mutex::default(),
        })
    }

    async fn deliver(&self, engine: &Engine, reference: &str) -> anyhow::Result<NodeImage> {
        let before = |delivered: &Mutex<BTreeMap<String, NodeImage>>| {
            let delivered = delivered
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            delivered.get(reference).cloned()
        };
        if let Some(image) = before(&self.delivered) {
            return Ok(image);
        }
        let image = self
            .delivery
            .deliver(engine, reference, self.folder.path())
            .await?;
        let delivered = self.delivered.lock();
        let mut delivered = delivered.unwrap_or_else(std::sync::PoisonError::into_inner);
        delivered.insert(reference.to_owned(), image.clone());
        Ok(image)
    }

    async fn postgres(&self, data: &Path) -> anyhow::Result<BackendPod> {
        let engine = self.engine.get_or_try_init(find_engine).await?;
        let reference = base_reference("postgresql");
        let found = engine.image(&reference).await?;
        let image = found.ok_or_else(|| {
            hinted(
                format_args!("the image {reference} of the backend postgres is missing"),
                format!(
                    "{}; or name a server by --backend-url",
                    base_hint(&reference)
                ),
            )
        })?;
        let image = self.deliver(engine, &image.reference).await?;
        let started = self.runtime.postgres(&image, data);
        started.await.map_err(with_hints)
    }

    async fn elasticsearch(&self, own: &Elasticsearch) -> anyhow::Result<BackendPod> {
        let artifact = elasticsearch::artifact(own).await?;
        let engine = self.engine.get_or_try_init(find_engine).await?;
        let folder = artifact_in_image(&artifact);
        let spec = ImageSpec {
            suite: "backends".to_owned(),
            contender: "elasticsearch".to_owned(),
            base: "jre-17-locales".to_owned(),
            artifact,
        };
        let image = engine.assemble(&spec).await?;
        let image = self.deliver(engine, &image.reference).await?;
        let port = KubernetesRuntime::BACKEND_PORT;
        let java = java_in_image();
        let command = elasticsearch::command_in_image(&java, &folder, own.heap_mib, port);
        let started = self.runtime.elasticsearch(&image, &command, own.warm_up);
        started.await.map_err(with_hints)
    }
}

#[async_trait(?Send)]
impl Platform for ClusterPlatform {
    fn runtime(&self) -> &dyn Runtime {
        &self.runtime
    }

    /// The image of the contender is then at the nodes.
    async fn make_ready(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        without_volumes(contender, format_args!("the nodes do not"))?;
        if let Some(reference) = &contender.image {
            // The nodes pull it; this host does not need it.
            return Ok(Ready {
                command: contender.image_entrypoint.clone(),
                image: Some(NodeImage::of_registry(reference.clone()).in_spec()),
                ..elsewhere(built)
            });
        }
        let engine = self.engine.get_or_try_init(find_engine).await?;
        let mut ready = in_image(engine, suite, contender, built, jvm_options).await?;
        if let Some(reference) = ready.image.take() {
            ready.image = Some(self.deliver(engine, &reference).await?.in_spec());
        }
        Ok(ready)
    }

    async fn start_backend(
        &self,
        wanted: &WantedBackend<'_>,
    ) -> anyhow::Result<Box<dyn RunningBackend>> {
        if wanted.server.is_some() {
            // The reachable addresses are not known; the loopback of this host is not one of them.
            let gateway = Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
            return backends::start_here(&self.process, wanted, gateway).await;
        }
        let data = wanted.data.clone().unwrap_or_default();
        Ok(Box::new(match wanted.kind()? {
            BackendKind::Replay(own) => self
                .runtime
                .replay(&own.settings)
                .await
                .map_err(with_hints)?,
            BackendKind::Elasticsearch(own) => self.elasticsearch(&own).await?,
            BackendKind::Postgres => self.postgres(&data).await?,
            BackendKind::PostgresServer(url) => bail!("{url} cannot be started"),
        }))
    }

    async fn sweep(&self) -> anyhow::Result<Vec<String>> {
        let mut removed = swept(&self.process).await?;
        removed.extend(self.runtime.sweep().await?);
        Ok(removed)
    }

    fn generator(&self, _program: PathBuf) -> Box<dyn LoadGenerator> {
        in_pods(self.runtime.load_pods())
    }

    fn client(&self) -> &dyn Client {
        &self.runtime
    }

    async fn ceiling(&self, _program: &Path, _cores: &Cores) -> anyhow::Result<GeneratorCeiling> {
        let line = self
            .runtime
            .load_pods()
            .ceiling()
            .await
            .map_err(with_hints)?;
        serde_json::from_str(&line).map_err(|_| anyhow!("its Pod said: {line}"))
    }

    fn host(&self) -> Host {
        self.runtime.host().clone()
    }

    fn host_cores(&self) -> usize {
        self.runtime.host().cores
    }

    fn nodes(&self) -> Option<Placed> {
        Some(self.runtime.placed())
    }

    fn gc_log_inside(&self) -> Option<&'static Path> {
        Some(Path::new(GC_LOG_IN_CONTAINERS))
    }

    async fn close(self: Box<Self>) -> anyhow::Result<()> {
        self.runtime.end().await.map_err(with_hints)
    }
}

async fn load_program(
    program: PathBuf,
    recordings: Option<PathBuf>,
    folder: &Path,
    command: &str,
) -> anyhow::Result<NodeImage> {
    let (folder, command) = (folder.to_owned(), command.to_owned());
    let loading = tokio::task::spawn_blocking(move || {
        let image = PodImage::of_program(&program, recordings.as_deref(), &folder)?;
        image.load(&command)
    });
    loading.await?.map_err(with_hints)
}

fn no_delivery(context: &str) -> anyhow::Error {
    hinted(
        format_args!("no way to load images onto the nodes of the cluster {context} is configured"),
        "--image-registry names a registry that the nodes pull from, or --image-loader a command \
         that loads an archive, `{}`, into them",
    )
}

impl Client for KubernetesRuntime {
    fn ask<'a>(
        &'a self,
        to: &'a Destination,
        check: &'a Check,
    ) -> BoxFuture<'a, Result<ReceivedResponse, Problem>> {
        Box::pin(async move {
            let question = HttpRequest {
                method: &check.method,
                path: &check.path,
                headers: &check.headers,
                body: &client::body(to, check)?,
            };
            let asking = self.ask(to.wire.spoken(), to.address, question, RESPONSE_LIMIT);
            client::understood(to, check, asking.await?)
        })
    }
}
