//! The meters of a session: a Pod on each node whose cost is of interest.

use std::collections::BTreeMap;
use std::sync::Arc;

use bakeoff_model::record::Host;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;

use crate::kubernetes::cluster::connection::Cluster;
use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::cluster::network;
use crate::kubernetes::cluster::nodes::Nodes;
use crate::kubernetes::pods::client::PodClient;
use crate::kubernetes::pods::node_image::NodeImage;
use crate::kubernetes::pods::running::{create, running};
use crate::kubernetes::pods::specs::{Common, METER, PodOrder};
use crate::kubernetes::session::namespaces::Namespaces;
use crate::remote::protocol::{RemoteReply, RemoteRequest};

/// Node -> the name of its meter's Pod, and the meter.
pub(crate) type Meters = BTreeMap<String, (String, Arc<PodClient>)>;

/// Meters on the nodes of contenders and backend, which read the cgroup files of their node. Where
/// the cluster refuses them, contenders and backend have a meter as a sidecar, and these only
/// describe their nodes.
pub(crate) async fn start_meters(
    namespaces: &Namespaces,
    common: &Common,
    nodes: &Nodes,
    image: &NodeImage,
) -> Result<Meters, ClusterError> {
    let mut meters = Meters::new();
    let pods = namespaces.meters();
    for node in [&nodes.contender.name, &nodes.backend.name] {
        if meters.contains_key(node) {
            continue;
        }
        let name = format!("{}meter-{}", namespaces.prefix, meters.len());
        let is_unprivileged = namespaces.metering.is_none();
        make_meter(&pods, common, image, (&name, is_unprivileged), node).await?;
        let meter = PodClient::start(&pods, &name).await?;
        meters.insert(node.clone(), (name, meter));
    }
    Ok(meters)
}

pub(crate) async fn make_meter(
    pods: &Api<Pod>,
    common: &Common,
    image: &NodeImage,
    (name, is_unprivileged): (&str, bool),
    node: &str,
) -> Result<(), ClusterError> {
    let pod = PodOrder {
        name,
        part: METER,
        image,
        nodes: &[node],
        meter: None,
    };
    let pod = match is_unprivileged {
        true => common.unprivileged_meter(&pod),
        false => common.meter(&pod),
    };
    create(pods, &pod).await?;
    running(pods, name).await.map(|_| ())
}

/// The contenders' node as its meter sees it, and as the cluster knows it.
pub(crate) async fn describe(
    meters: &Meters,
    cluster: &Cluster,
    nodes: &Nodes,
) -> Result<Host, ClusterError> {
    let node = &nodes.contender;
    let mut host = Host::default();
    if let Some((_, meter)) = meters.get(&node.name)
        && let RemoteReply::Host(found) = meter.ask(&RemoteRequest::Host).await?
    {
        host = *found;
    }
    host.kernel.clone_from(&node.kernel);
    let cpu_manager = cluster.cpu_manager(&node.name).await;
    let network = network::plugin(cluster).await;
    let pressure = match node.pressure.is_empty() {
        true => "none".to_owned(),
        false => node.pressure.join(" "),
    };
    let facts = [
        ("kubernetes", cluster.version().to_owned()),
        ("kubelet", node.kubelet.clone()),
        ("container runtime", node.container_runtime.clone()),
        ("CPU manager", cpu_manager),
        ("CNI plug-in", network),
        ("node pressure", pressure),
    ];
    let facts = facts.map(|(name, value)| (name.to_owned(), value));
    host.versions.extend(facts);
    Ok(host)
}
