//! Contenders in a Kubernetes cluster: the nodes of the parts, the way of images to the nodes, and
//! the Pods that are started there.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use bakeoff_base::hint::{hinted, with_hints};
use bakeoff_base::problem::Problem;
use bakeoff_build::Built;
use bakeoff_model::record::nodes::Nodes as Placed;
use bakeoff_model::request::check::{Check, ReceivedResponse};
use bakeoff_model::suite::Contender;
use bakeoff_model::suite::cluster_settings::ClusterSettings;

use crate::BoxFuture;
use crate::client::{self, RESPONSE_LIMIT};
use crate::contender::Ready;
use crate::contracts::{Client, Destination, Installer};
use crate::http::HttpRequest;
use crate::images::{Delivery, elsewhere, in_image};
use crate::kubernetes::{Cluster, ClusterRequest, KubernetesRuntime, NodeImage, Nodes};
use crate::place::node_images::NodeImages;
use crate::place::pods::in_pods;
use crate::place::services_here::{Containers, Reach, ServicesHere};
use crate::place::services_in_pods::ServicesInPods;
use crate::place::{GC_LOG_IN_CONTAINERS, Place, WantedPlace, without_settings, without_volumes};
use crate::this_host::process_runtime;

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

/// Finds the cluster and places the parts; `has_services` says whether services run in it.
///
/// # Errors
/// It does not respond, or has no node that takes Pods.
pub async fn connect(settings: &ClusterSettings, has_services: bool) -> anyhow::Result<Connected> {
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
        placed: nodes.placed(settings.load_pods(), has_services),
        cluster,
        nodes,
    })
}

/// Connects, brings this program to the nodes and starts the Pods that send load.
pub(super) async fn open(wanted: &WantedPlace<'_>) -> anyhow::Result<Place> {
    let settings = wanted.cluster;
    let Connected { cluster, nodes, .. } = connect(settings, wanted.has_services).await?;
    let images = Arc::new(NodeImages::of(Delivery::of(settings, cluster.context()))?);
    let order = ClusterRequest {
        image: images.program(settings, wanted, &cluster).await?,
        cluster,
        namespace: settings.namespace.clone(),
        nodes,
        load_pods: settings.load_pods(),
    };
    let runtime = KubernetesRuntime::begin(order).await.map_err(with_hints)?;
    let runtime = Arc::new(runtime);
    let here = Arc::new(process_runtime()?);
    let services = ServicesInPods {
        runtime: Arc::clone(&runtime),
        images: Arc::clone(&images),
        here: ServicesHere {
            process: Arc::clone(&here),
            // The reachable addresses are not known; the loopback of this host is not one of them.
            reach: Reach::Address(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
            containers: Containers::of_processes(),
        },
    };
    Ok(Place {
        generator: in_pods(runtime.load_pods()),
        client: Box::new(Arc::clone(&runtime)),
        host: runtime.host().clone(),
        host_cores: runtime.host().cores,
        nodes: Some(runtime.placed(wanted.has_services)),
        gc_log: Some(Path::new(GC_LOG_IN_CONTAINERS)),
        ..Place::from_here(runtime, OnNodes(images), services, here)?
    })
}

/// Brings images of contenders to the nodes.
struct OnNodes(Arc<NodeImages>);

#[async_trait(?Send)]
impl Installer for OnNodes {
    async fn install(
        &self,
        suite: &str,
        contender: &Contender,
        built: Built,
        jvm_options: Vec<String>,
    ) -> anyhow::Result<Ready> {
        without_volumes(contender, format_args!("the nodes do not"))?;
        without_settings(contender)?;
        if let Some(reference) = &contender.image {
            // The nodes pull it; this host does not need it.
            return Ok(Ready {
                command: contender.image_entrypoint.clone(),
                image: Some(NodeImage::of_registry(reference.clone()).in_spec()),
                ..elsewhere(built)
            });
        }
        let engine = self.0.engine().await?;
        let mut ready = in_image(engine, suite, contender, built, jvm_options).await?;
        if let Some(reference) = ready.image.take() {
            ready.image = Some(self.0.deliver(&reference).await?.in_spec());
        }
        Ok(ready)
    }
}

impl Client for Arc<KubernetesRuntime> {
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
            let runtime = KubernetesRuntime::ask;
            let asking = runtime(self, to.wire.spoken(), to.address, question, RESPONSE_LIMIT);
            client::understood(to, check, asking.await?)
        })
    }
}
