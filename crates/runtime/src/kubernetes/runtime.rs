//! Starts contenders as Pods, and what works beside them: a client, meters, a backend.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bakeoff_model::check::Answer;
use bakeoff_model::conditions::{Enforcement, TrafficPath};
use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::ReplaySettings;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::PostParams;
use tokio::time::Instant;

use crate::api::{BoxFuture, Instance, Runtime, StartError, StartSpec, SweepError};
use crate::backend::ReplayNotes;
use crate::log::Log;
use crate::ready::monotonic_ns;

use super::cluster::Cluster;
use super::error::ClusterError;
use super::exec::Attached;
use super::inside::{Inside, Question, Reply, Request, Watched};
use super::instance::{Parts, PodInstance, copy_output, follow, sample};
use super::nodes::Nodes;
use super::pods::{Common, PodOrder, RECORDINGS, REPLAY_FOLDER, pod_name};
use super::session::{Namespaces, own_labels, sweep};
use super::state::{PodState, Running, state};

/// How long a Pod may take until it runs: its image may have to be pulled.
const RUNNING: Duration = Duration::from_secs(120);
/// Distance of two looks at a Pod that is to run.
const POLL: Duration = Duration::from_millis(50);
/// The Pod from which requests are sent.
const GENERATOR: &str = "generator";
/// The Pod of the replay backend, and its port.
const BACKEND: &str = "backend";
const BACKEND_PORT: u16 = 9200;

/// What a session wants of a cluster.
#[derive(Debug, Clone)]
pub struct Order {
    /// The cluster.
    pub cluster: Cluster,
    /// Which part runs where.
    pub nodes: Nodes,
    /// This program's own image, as Pods call it.
    pub image: String,
}

/// Starts contenders as Pods. Make one a session; dropping it removes its namespaces.
#[derive(Debug)]
pub struct KubernetesRuntime {
    order: Order,
    namespaces: Namespaces,
    common: Common,
    /// In the Pod from which requests are sent.
    client: Arc<Inside>,
    /// Node -> the name of its meter's Pod, and the meter.
    meters: BTreeMap<String, (String, Arc<Inside>)>,
    count: AtomicU64,
}

/// A replay backend in a Pod. It goes with the session's namespace.
#[derive(Debug)]
pub struct BackendPod {
    address: SocketAddr,
    container: String,
    meter: Arc<Inside>,
    notes: Arc<Inside>,
    /// Unknown requests that came with a sample.
    unknown: Mutex<Vec<String>>,
}

impl KubernetesRuntime {
    /// Makes the session's namespaces, the Pod from which requests are sent and the meters.
    ///
    /// # Errors
    /// The cluster refuses, or a Pod does not run in time.
    pub async fn begin(order: Order) -> Result<Self, ClusterError> {
        let namespaces = Namespaces::make(&order.cluster).await?;
        let common = Common {
            labels: own_labels(),
            pull: "Never",
        };
        let pod = PodOrder {
            name: GENERATOR,
            part: GENERATOR,
            image: &order.image,
            node: &order.nodes.generator.name,
        };
        let pods = namespaces.pods();
        create(&pods, &common.program(&pod, &["pause".to_owned()])).await?;
        let mut meters = BTreeMap::new();
        for node in [&order.nodes.contender.name, &order.nodes.backend.name] {
            if !meters.contains_key(node) {
                let name = format!("meter-{}", meters.len());
                let meter = start_meter(&namespaces.meters(), &common, &order, &name, node).await?;
                meters.insert(node.clone(), (name, meter));
            }
        }
        running(&pods, GENERATOR).await?;
        let client = Inside::start(&pods, GENERATOR).await?;
        Ok(Self {
            order,
            namespaces,
            common,
            client,
            meters,
            count: AtomicU64::new(0),
        })
    }

    /// The node of each part.
    #[must_use]
    pub fn nodes(&self) -> &Nodes {
        &self.order.nodes
    }

    /// Removes everything, and waits until it is gone.
    ///
    /// # Errors
    /// It is still there after a minute.
    pub async fn end(self) -> Result<(), ClusterError> {
        self.namespaces.remove().await
    }

    /// Starts a load generator in its Pod: `bakeoff load -`.
    ///
    /// # Errors
    /// The Pod is gone, or the API server away.
    pub async fn load(&self) -> Result<Attached, ClusterError> {
        Attached::start(&self.namespaces.pods(), GENERATOR, &["load", "-"]).await
    }

    /// Sends one request from the load generator's Pod, over a fresh connection.
    ///
    /// # Errors
    /// There was no response, and why.
    pub async fn ask(
        &self,
        to: SocketAddr,
        (method, path): (&str, &str),
        headers: &[(String, String)],
        body: &[u8],
        limit: Duration,
    ) -> Result<Answer, String> {
        let request = Request {
            to,
            method: method.to_owned(),
            path: path.to_owned(),
            headers: headers.to_vec(),
            body: STANDARD.encode(body),
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        };
        match self.client.ask(&Question::Ask(Box::new(request))).await {
            Ok(Reply::Response {
                status,
                headers,
                body,
            }) => Ok(Answer {
                status,
                headers,
                body: STANDARD.decode(body).map_err(|error| error.to_string())?,
            }),
            Ok(Reply::NoResponse(why)) => Err(why),
            Ok(_) => Err("the Pod replied to another question".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Starts the replay backend; `image` is this program's with the recordings in it.
    ///
    /// # Errors
    /// The Pod does not run.
    pub async fn replay(
        &self,
        image: &str,
        settings: &ReplaySettings,
    ) -> Result<BackendPod, ClusterError> {
        let node = &self.order.nodes.backend.name;
        let pod = PodOrder {
            name: BACKEND,
            part: BACKEND,
            image,
            node,
        };
        let pods = self.namespaces.pods();
        create(
            &pods,
            &self.common.program(&pod, &replay_arguments(settings)),
        )
        .await?;
        let running = running(&pods, BACKEND).await?;
        Ok(BackendPod {
            address: address(&running, BACKEND_PORT)?,
            container: running.container,
            meter: self.meter(node)?,
            notes: Inside::start(&pods, BACKEND).await?,
            unknown: Mutex::default(),
        })
    }

    fn meter(&self, node: &str) -> Result<Arc<Inside>, ClusterError> {
        let found = self.meters.get(node).map(|(_, meter)| Arc::clone(meter));
        found.ok_or_else(|| ClusterError::new(format!("node {node} has no meter")))
    }

    async fn start_pod(&self, spec: &StartSpec) -> Result<PodInstance, ClusterError> {
        let image = spec.image.as_deref();
        let image = image.ok_or_else(|| ClusterError::new("it has no image"))?;
        let log = Log::create(&spec.log_path).map_err(|error| {
            let path = spec.log_path.display();
            ClusterError::new(format!("cannot write the log {path}: {error}"))
        })?;
        let (pods, node) = (self.namespaces.pods(), &self.order.nodes.contender.name);
        let name = pod_name(&spec.label, self.count.fetch_add(1, Ordering::Relaxed));
        let order = PodOrder {
            name: &name,
            part: "contender",
            image,
            node,
        };
        // An exec of its own: the other one is for samples, and this one waits.
        let meter_pod = self.meters.get(node).map(|(name, _)| name.as_str());
        let watcher =
            Inside::start(&self.namespaces.meters(), meter_pod.unwrap_or_default()).await?;
        let asked_ns = monotonic_ns();
        let uid = create(&pods, &self.common.contender(&order, spec)).await?;
        let created_ns = monotonic_ns();
        let question = Question::Watch(Watched {
            pod: uid,
            port: spec.port,
            path: spec.ready_path.clone(),
            limit_ns: u64::try_from(spec.start_timeout.as_nanos()).unwrap_or(u64::MAX),
        });
        let start = tokio::spawn(async move {
            let reply = watcher.ask(&question).await?;
            Ok((reply, monotonic_ns()))
        });
        let begun = begun(&pods, &name).await?;
        let (ended, following) = follow(pods.clone(), name.clone(), log.clone());
        let copying = copy_output(pods.clone(), name.clone(), log.clone());
        // One that has ended already has no address: nobody can answer at port 0.
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        Ok(PodInstance::new(Parts {
            pods,
            name,
            label: spec.label.clone(),
            address: begun
                .as_ref()
                .map_or(Ok(nowhere), |one| address(one, spec.port))?,
            container: begun.map(|one| one.container).unwrap_or_default(),
            meter: self.meter(node)?,
            asked_ns,
            created_ns,
            start,
            log,
            log_path: spec.log_path.clone(),
            ended,
            followers: [following, copying],
        }))
    }
}

impl Runtime for KubernetesRuntime {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        Box::pin(async move {
            let started = self.start_pod(spec).await;
            let instance = started.map_err(|error| StartError::Failed {
                label: spec.label.clone(),
                message: error.to_string(),
                hint: error.hint().map(str::to_owned),
            })?;
            Ok(Box::new(instance) as Box<dyn Instance>)
        })
    }

    fn enforcement(&self) -> Enforcement {
        Enforcement::Kubernetes
    }

    fn traffic_path(&self) -> TrafficPath {
        TrafficPath::PodAddress
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>> {
        Box::pin(sweep(&self.order.cluster))
    }
}

impl BackendPod {
    /// Where contenders reach it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has cost and how many requests it has answered up to now.
    pub async fn sample(&self) -> ResourceSample {
        let sampled = sample(&self.meter, &self.container).await;
        let requests = self.note().await;
        ResourceSample {
            requests,
            ..sampled
        }
    }

    /// Requests that it had no recording of since the last call.
    pub async fn unknown_requests(&self) -> Vec<String> {
        self.note().await;
        let mut noted = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *noted)
    }

    async fn note(&self) -> Option<u64> {
        let Ok(Reply::Notes { requests, unknown }) = self.notes.ask(&Question::Notes).await else {
            return None;
        };
        let mut noted = self.unknown.lock().unwrap_or_else(PoisonError::into_inner);
        noted.extend(unknown);
        requests
    }
}

async fn start_meter(
    pods: &Api<Pod>,
    common: &Common,
    order: &Order,
    name: &str,
    node: &str,
) -> Result<Arc<Inside>, ClusterError> {
    let pod = PodOrder {
        name,
        part: "meter",
        image: &order.image,
        node,
    };
    create(pods, &common.meter(&pod)).await?;
    running(pods, name).await?;
    Inside::start(pods, name).await
}

fn replay_arguments(settings: &ReplaySettings) -> Vec<String> {
    let [unknown, count] = ReplayNotes::FILES.map(|name| format!("{REPLAY_FOLDER}/{name}"));
    let listen = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), BACKEND_PORT);
    let mut arguments = vec!["replay".to_owned()];
    let flags = [
        ("--recordings", RECORDINGS.to_owned()),
        ("--listen", listen.to_string()),
        ("--delay", settings.delay.to_string()),
        ("--unknown", unknown),
        ("--count", count),
    ];
    arguments.extend(
        flags
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value]),
    );
    if settings.gzip {
        arguments.push("--gzip".to_owned());
    }
    if let Some(queue) = settings.queue {
        arguments.extend(["--queue".to_owned(), queue.to_string()]);
    }
    arguments
}

/// Creates a Pod; its UID.
async fn create(pods: &Api<Pod>, pod: &Pod) -> Result<String, ClusterError> {
    let name = pod.metadata.name.clone().unwrap_or_default();
    let made = pods.create(&PostParams::default(), pod).await;
    let made = made.map_err(|error| ClusterError::of(&format!("make the Pod {name}"), &error))?;
    Ok(made.metadata.uid.unwrap_or_default())
}

/// Waits until a Pod runs; `None` when it has ended by then.
async fn begun(pods: &Api<Pod>, name: &str) -> Result<Option<Running>, ClusterError> {
    let deadline = Instant::now() + RUNNING;
    let mut last = None;
    while Instant::now() < deadline {
        let found = pods.get(name).await;
        let found = found.map_err(|error| ClusterError::of(&format!("see the Pod {name}"), &error));
        match state(&found?) {
            PodState::Running(running) => return Ok(Some(running)),
            PodState::Ended(_) => return Ok(None),
            PodState::Hopeless(why) => return Err(ClusterError::new(why)),
            PodState::Pending(why) => last = why,
        }
        tokio::time::sleep(POLL).await;
    }
    let why = last.map(|why| format!(": {why}")).unwrap_or_default();
    let seconds = RUNNING.as_secs();
    Err(ClusterError::new(format!(
        "Pod {name} does not run after {seconds} s{why}"
    )))
}

/// Waits until a Pod of this program runs.
async fn running(pods: &Api<Pod>, name: &str) -> Result<Running, ClusterError> {
    begun(pods, name).await?.ok_or_else(|| {
        ClusterError::new(format!("the Pod {name} ended at once")).with_hint(format!(
            "`kubectl describe pod {name}` says more while it is there"
        ))
    })
}

fn address(running: &Running, port: u16) -> Result<SocketAddr, ClusterError> {
    let ip = running
        .address
        .parse()
        .map_err(|_| ClusterError::new(format!("{} is no address of a Pod", running.address)))?;
    Ok(SocketAddr::new(ip, port))
}
