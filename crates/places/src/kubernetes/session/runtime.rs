//! Starts contenders as Pods, and the Pods around them: load generators, meters, a backend.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::log::Log;
use bakeoff_model::record::Host;
use bakeoff_model::record::nodes::Nodes as Placed;
use bakeoff_model::request::check::ReceivedResponse;
use bakeoff_model::suite::ReplaySettings;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;

use crate::api::{BoxFuture, Instance, Runtime, StartError, StartSpec, SweepError};
use crate::kubernetes::cluster::connection::Cluster;
use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::cluster::nodes::Nodes;
use crate::kubernetes::pods::client::PodClient;
use crate::kubernetes::pods::forward::Forward;
use crate::kubernetes::pods::node_image::NodeImage;
use crate::kubernetes::pods::running::{address, begun_telling, create, is_over, running};
use crate::kubernetes::pods::specs::{Common, PodOrder, pod_name};
use crate::kubernetes::session::backend::{self, BackendPod, replay_command};
use crate::kubernetes::session::generators::LoadPods;
use crate::kubernetes::session::instance::{PodInstance, StartedPod, copy_output, follow};
use crate::kubernetes::session::meters::{Meters, describe, make_meter, start_meters};
use crate::kubernetes::session::namespaces::{Namespaces, own_labels, sweep};
use crate::kubernetes::session::postgres;
use crate::kubernetes::session::start::{Made, seen_to_start, watch_for};
use crate::ready::monotonic_ns;
use crate::remote::client::strange;
use crate::remote::protocol::{PodReply, PodRequest, RemoteReply, RemoteRequest, ServiceRequest};
use crate::services::dependency::Launched;
use crate::services::postgres::command_in_image;
use crate::{Spoken, Wire, http};

/// The Pods from which requests are sent.
const GENERATOR: &str = "generator";
/// The Pod of the backend.
const BACKEND: &str = "backend";

/// A request of a session to a cluster: where its parts run.
#[derive(Debug, Clone)]
pub struct ClusterRequest {
    /// The cluster.
    pub cluster: Cluster,
    /// An existing namespace to work in [default: a new one].
    pub namespace: Option<String>,
    /// Which part runs where.
    pub nodes: Nodes,
    /// Pods that send the load.
    pub load_pods: u32,
    /// This program's own image, with the recordings of the replay backend.
    pub image: NodeImage,
}

/// Starts contenders as Pods. Make one a session; dropping it removes what it made.
#[derive(Debug)]
pub struct KubernetesRuntime {
    order: ClusterRequest,
    namespaces: Namespaces,
    common: Common,
    load: LoadPods,
    /// Nodes of the load generators.
    load_nodes: Vec<String>,
    /// The things that were swept, until they are asked for.
    swept: Mutex<Vec<String>>,
    /// In the first Pod from which requests are sent.
    client: Arc<PodClient>,
    /// Node -> the name of its meter's Pod, and the meter.
    meters: Meters,
    /// The contenders' node.
    host: Host,
    /// The count of its cores at the last reading of a contender.
    count: AtomicU64,
}

impl KubernetesRuntime {
    /// The port of backends.
    pub const BACKEND_PORT: u16 = backend::PORT;

    /// Makes the session's namespaces, the Pods from which requests are sent and the meters.
    ///
    /// # Errors
    /// The cluster refuses, or a Pod does not run in time.
    pub async fn begin(order: ClusterRequest) -> Result<Self, ClusterError> {
        // Before anything is made: what a dead session left takes room.
        let swept = sweep(&order.cluster, order.namespace.as_deref()).await;
        let swept = swept.map_err(|error| ClusterError::new(error.to_string()))?;
        let mut namespaces = Namespaces::make(&order.cluster, order.namespace.as_deref()).await?;
        let common = Common {
            labels: own_labels(),
            allocatable_cpus: order.nodes.contender.allocatable_cpus,
        };
        let names: Vec<&str> = order
            .nodes
            .generators
            .iter()
            .map(|node| node.name.as_str())
            .collect();
        let name = format!("{}{GENERATOR}", namespaces.prefix);
        let pods = PodOrder {
            name: &name,
            part: GENERATOR,
            image: &order.image,
            nodes: &names,
            meter: None,
        };
        let job = common.load_pods(&pods, order.load_pods);
        let jobs = namespaces.jobs();
        let load = LoadPods::make(&jobs, namespaces.pods(), &job, order.load_pods).await?;
        let meters = start_meters(&namespaces, &common, &order.nodes, &order.image).await;
        let meters = match meters {
            Err(error) if error.is_refusal() && namespaces.metering.is_some() => {
                namespaces.metering = None;
                start_meters(&namespaces, &common, &order.nodes, &order.image).await
            }
            other => other,
        }?;
        let all = load.all().await?;
        let client = PodClient::begin(&namespaces.pods(), load.finder(0)).await?;
        let mut host = describe(&meters, &order.cluster, &order.nodes).await?;
        let place = match namespaces.metering {
            Some(_) => "on the node",
            None => "sidecar",
        };
        host.versions.insert("meter".to_owned(), place.to_owned());
        Ok(Self {
            load_nodes: all.into_values().map(|pod| pod.node).collect(),
            swept: Mutex::new(swept),
            count: AtomicU64::new(0),
            order,
            namespaces,
            common,
            load,
            client,
            meters,
            host,
        })
    }

    /// Which part runs on which node.
    #[must_use]
    pub fn placed(&self, has_services: bool) -> Placed {
        let nodes = &self.order.nodes;
        nodes.with_names(self.load_nodes.clone(), has_services)
    }

    /// The cluster.
    #[must_use]
    pub fn cluster(&self) -> &Cluster {
        &self.order.cluster
    }

    /// Returns the contenders' node, with the versions of what runs it.
    #[must_use]
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The Pods that send the load.
    #[must_use]
    pub fn load_pods(&self) -> &LoadPods {
        &self.load
    }

    /// Sends one request from a load generator's Pod, over a fresh connection.
    ///
    /// # Errors
    /// There was no response, and why.
    pub async fn ask(
        &self,
        spoken: Spoken,
        to: SocketAddr,
        question: http::HttpRequest<'_>,
        limit: Duration,
    ) -> Result<ReceivedResponse, Problem> {
        let request = ServiceRequest {
            to,
            spoken,
            method: question.method.to_owned(),
            path: question.path.to_owned(),
            headers: question.headers.to_vec(),
            body: STANDARD.encode(question.body),
            limit_ns: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        };
        let request = RemoteRequest::Pod(PodRequest::Ask(Box::new(request)));
        match self.client.ask(&request).await {
            Ok(RemoteReply::Pod(PodReply::Response {
                status,
                grpc_status,
                headers,
                body,
            })) => Ok(ReceivedResponse {
                status,
                grpc_status,
                headers,
                body: STANDARD.decode(body).map_err(Problem::new)?,
            }),
            Ok(RemoteReply::Pod(PodReply::NoResponse(why))) => Err(why.into()),
            Ok(other) => Err(strange(other)),
            Err(error) => Err(error.into()),
        }
    }

    /// Starts the replay backend, whose recordings are in the image of the order.
    ///
    /// # Errors
    /// The Pod does not run.
    pub async fn replay(&self, settings: &ReplaySettings) -> Result<BackendPod, ClusterError> {
        let command = replay_command(settings);
        let pod = self.backend(&self.order.image, &command, backend::PORT);
        let pod = pod.await?;
        let (pods, name) = (self.namespaces.pods(), self.backend_name());
        let notes = PodClient::start(&pods, &name).await?;
        Ok(BackendPod {
            notes: Some((notes, RemoteRequest::Pod(PodRequest::Notes))),
            ..pod
        })
    }

    /// Starts an Elasticsearch of this image, fills it with the data in the image of the order, and
    /// warms it.
    ///
    /// # Errors
    /// The Pod does not run, or it refuses the data.
    pub async fn elasticsearch(
        &self,
        image: &NodeImage,
        command: &[String],
        warm_up: Duration,
    ) -> Result<BackendPod, ClusterError> {
        let pod = self.backend(image, command, backend::PORT).await?;
        let node = pod.address;
        let notes = PodClient::begin(&self.namespaces.pods(), self.load.finder(0)).await?;
        let warm_up_ns = u64::try_from(warm_up.as_nanos()).unwrap_or(u64::MAX);
        let fill = RemoteRequest::Pod(PodRequest::Fill { node, warm_up_ns });
        match notes.ask(&fill).await? {
            RemoteReply::Pod(PodReply::Filled) => {}
            RemoteReply::Pod(PodReply::NoAnswer(why)) => return Err(ClusterError::new(why)),
            other => return Err(ClusterError::new(strange(other))),
        }
        Ok(BackendPod {
            notes: Some((notes, RemoteRequest::Pod(PodRequest::Statistics { node }))),
            ..pod
        })
    }

    /// Starts a PostgreSQL of this image, with the schema in a folder of data.
    ///
    /// # Errors
    /// The Pod does not run, or it refuses the schema.
    pub async fn postgres(
        &self,
        image: &NodeImage,
        data: &Path,
    ) -> Result<BackendPod, ClusterError> {
        let command = command_in_image(postgres::PORT);
        let pod = self.backend(image, &command, postgres::PORT).await?;
        let (pods, name) = (self.namespaces.pods(), self.backend_name());
        let databases = postgres::databases(&pods, &name, data).await?;
        Ok(BackendPod {
            databases: Some(databases),
            ..pod
        })
    }

    fn backend_name(&self) -> String {
        format!("{}{BACKEND}", self.namespaces.prefix)
    }

    /// Starts the Pod of a backend that listens on this port; the Pod to query for its requests and
    /// databases is not known yet.
    async fn backend(
        &self,
        image: &NodeImage,
        command: &[String],
        port: u16,
    ) -> Result<BackendPod, ClusterError> {
        let (node, name) = (&self.order.nodes.backend.name, self.backend_name());
        let order = PodOrder {
            name: &name,
            part: BACKEND,
            image,
            nodes: &[node],
            meter: self.sidecar(),
        };
        let pods = self.namespaces.pods();
        create(&pods, &self.common.unlimited(&order, command)).await?;
        let running = running(&pods, &name).await?;
        Ok(BackendPod {
            address: address(&running, port)?,
            container: running.container,
            meter: self.meter_of(&pods, &name, node).await?,
            notes: None,
            databases: None,
            unknown: Mutex::default(),
        })
    }

    /// Returns the image of the sidecar that meters a Pod, if the nodes have no meters.
    fn sidecar(&self) -> Option<&NodeImage> {
        let is_sidecar = self.namespaces.metering.is_none();
        is_sidecar.then_some(&self.order.image)
    }

    /// The meter of a Pod on a node.
    async fn meter_of(
        &self,
        pods: &Api<Pod>,
        pod: &str,
        node: &str,
    ) -> Result<Arc<PodClient>, ClusterError> {
        match self.sidecar() {
            Some(_) => PodClient::sidecar(pods, pod).await,
            None => self.meter(node),
        }
    }

    fn meter(&self, node: &str) -> Result<Arc<PodClient>, ClusterError> {
        let found = self.meters.get(node).map(|(_, meter)| Arc::clone(meter));
        found.ok_or_else(|| ClusterError::new(format!("node {node} has no meter")))
    }

    /// A separate connection to the meter that sees a Pod start: the other one is for samples, and
    /// this one waits.
    async fn watcher(&self, node: &str) -> Result<Option<Arc<PodClient>>, ClusterError> {
        if self.sidecar().is_some() {
            // It comes with the Pod.
            return Ok(None);
        }
        let name = self.meters.get(node).map(|(name, _)| name.as_str());
        let (pods, name) = (self.namespaces.meters(), name.unwrap_or_default());
        // It goes with its node, which may be back.
        let is_there = match pods.get_opt(name).await {
            Ok(Some(pod)) => !is_over(&pod),
            Ok(None) => false,
            Err(_) => true,
        };
        if !is_there {
            make_meter(&pods, &self.common, &self.order.image, (name, false), node).await?;
        }
        PodClient::start(&pods, name).await.map(Some)
    }

    /// Starts a service that a suite describes, on the node of services.
    ///
    /// # Errors
    /// It has no image, or its Pod never runs.
    pub(crate) async fn dependency(&self, spec: &StartSpec) -> Result<Launched, ClusterError> {
        let node = &self.order.nodes.backend.name;
        let instance = self.start_pod(spec, "dependency", node).await?;
        // Addresses of Pods need not be reachable from here.
        let forward = Forward::to(instance.pods(), instance.name(), spec.port).await;
        let forward = forward.map_err(|error| ClusterError::new(error.to_string()))?;
        Ok(Launched {
            address: instance.address(),
            from_here: forward.address(),
            _way: Some(Box::new(forward)),
            instance: Box::new(instance),
        })
    }

    async fn start_pod(
        &self,
        spec: &StartSpec,
        part: &'static str,
        node: &str,
    ) -> Result<PodInstance, ClusterError> {
        let image = spec.image.as_deref().map(NodeImage::of_spec);
        let image = image.ok_or_else(|| ClusterError::new("it has no image"))?;
        let wire = wire_there(spec)?;
        let log = Log::create(&spec.log_path).map_err(|error| {
            let path = spec.log_path.display();
            ClusterError::new(format!("cannot write the log {path}: {error}"))
        })?;
        let pods = self.namespaces.pods();
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        let prefix = format!("{}c-", self.namespaces.prefix);
        let name = pod_name(&prefix, &spec.label, number);
        let order = PodOrder {
            name: &name,
            part,
            image: &image,
            nodes: &[node],
            meter: self.sidecar(),
        };
        let watcher = self.watcher(node).await?;
        let asked_ns = monotonic_ns();
        let uid = create(&pods, &self.common.contender(&order, spec)).await?;
        let mut made = Made::new(&pods, &name);
        let created_ns = monotonic_ns();
        let question = watch_for(uid, spec, wire.spoken());
        let start = tokio::spawn(seen_to_start(watcher, pods.clone(), name.clone(), question));
        let mut scheduled_ns = created_ns;
        let mut scheduled = || scheduled_ns = monotonic_ns();
        let begun = begun_telling(&pods, &name, &mut scheduled).await?;
        let leaving = Arc::default();
        let (ended, following) = follow(
            pods.clone(),
            name.clone(),
            log.clone(),
            Arc::clone(&leaving),
        );
        let copying = copy_output(pods.clone(), name.clone(), log.clone());
        // One that has ended already has no address: nothing can respond at port 0.
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
        let begun_at = begun.as_ref();
        let address = begun_at.map_or(Ok(nowhere), |one| address(one, spec.port))?;
        let meter = match begun.is_some() {
            true => self.meter_of(&pods, &name, node).await?,
            // Nothing more is reported of a Pod that has ended.
            false => self.meter(node)?,
        };
        made.wanted = true;
        Ok(PodInstance::new(StartedPod {
            pods,
            name,
            label: spec.label.clone(),
            address,
            wire,
            container: begun.map(|one| one.container).unwrap_or_default(),
            meter,
            asked_ns,
            created_ns,
            scheduled_ns,
            events: self.namespaces.events(),
            start,
            log,
            log_path: spec.log_path.clone(),
            ended,
            leaving,
            followers: [following, copying],
        }))
    }
}

/// Returns the protocols of a contender as Pods get them: files of certificates are not there.
fn wire_there(spec: &StartSpec) -> Result<Wire, ClusterError> {
    let tls = spec.wire.tls.as_ref().map(bakeoff_tls::inlined);
    let tls = tls.transpose();
    Ok(Wire {
        tls: tls.map_err(|error| ClusterError::new(format!("no TLS: {error}")))?,
        ..spec.wire.clone()
    })
}

impl Runtime for KubernetesRuntime {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        Box::pin(async move {
            let node = &self.order.nodes.contender.name;
            let started = self.start_pod(spec, "contender", node).await;
            let instance = started.map_err(|error| StartError::failed(&spec.label, error))?;
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
        let swept = self.swept.lock();
        let swept = std::mem::take(&mut *swept.unwrap_or_else(PoisonError::into_inner));
        Box::pin(async move { Ok(swept) })
    }

    /// Removes everything, and waits for a minute until it is gone.
    fn end(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(self.namespaces.remove().await?) })
    }
}
