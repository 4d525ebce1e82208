//! The start of Pods: they are made, and awaited until they run.

use std::net::SocketAddr;
use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{DeleteParams, PostParams};
use tokio::time::Instant;

use crate::kubernetes::cluster::error::{AWAY_MAX, AWAY_PAUSE, ClusterError, is_away, is_there};
use crate::kubernetes::pods::state::{PodState, Running, has_meter, state};

/// How long a Pod may take until it runs: its image may have to be pulled.
pub(crate) const RUNNING: Duration = Duration::from_secs(120);
/// How long a Pod that no node takes is waited for: others may be on their way out.
const UNSCHEDULABLE: Duration = Duration::from_secs(20);
/// Pause between two looks at a Pod that starts.
pub(crate) const POLL: Duration = Duration::from_millis(50);

/// Creates a Pod, and returns its UID.
pub(crate) async fn create(pods: &Api<Pod>, pod: &Pod) -> Result<String, ClusterError> {
    let name = pod.metadata.name.clone().unwrap_or_default();
    let began = Instant::now();
    let made = loop {
        let made = match pods.create(&PostParams::default(), pod).await {
            // An earlier attempt did more than the API server could say, or one is on its way out.
            Err(error) if is_there(&error) => pods.get(&name).await,
            made => made,
        };
        match made {
            Ok(made) if is_over(&made) && began.elapsed() < AWAY_MAX => {
                let at_once = DeleteParams::default().grace_period(0);
                let _ = pods.delete(&name, &at_once).await;
                tokio::time::sleep(AWAY_PAUSE).await;
            }
            Ok(made) => break made,
            Err(error) if is_away(&error) && began.elapsed() < AWAY_MAX => {
                tokio::time::sleep(AWAY_PAUSE).await;
            }
            Err(error) => return Err(ClusterError::of(&format!("make the Pod {name}"), &error)),
        }
    };
    Ok(made.metadata.uid.unwrap_or_default())
}

/// Whether a Pod has ended or is about to.
pub(crate) fn is_over(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some() || matches!(state(pod), PodState::Ended(_))
}

/// Waits until a Pod runs; `None` when it has ended by then.
pub(crate) async fn begun(pods: &Api<Pod>, name: &str) -> Result<Option<Running>, ClusterError> {
    begun_telling(pods, name, &mut || {}).await
}

/// Waits until a Pod runs, and reports when it has a node.
pub(crate) async fn begun_telling(
    pods: &Api<Pod>,
    name: &str,
    scheduled: &mut (dyn FnMut() + Send),
) -> Result<Option<Running>, ClusterError> {
    let began = Instant::now();
    let mut has_node = false;
    let mut last = None;
    while began.elapsed() < RUNNING {
        match pods.get(name).await {
            Ok(found) => match seen(&found, &mut has_node, scheduled) {
                PodState::Running(running) => return Ok(Some(running)),
                PodState::Ended(_) => return Ok(None),
                PodState::Hopeless(why) => return Err(ClusterError::new(why)),
                PodState::Unschedulable(why) if began.elapsed() > UNSCHEDULABLE => {
                    return Err(ClusterError::new(format!(
                        "no node takes the Pod {name}: {why}"
                    )));
                }
                PodState::Unschedulable(why) => last = Some(why),
                PodState::Pending(why) => last = why,
            },
            Err(error) if is_away(&error) => last = Some(error.to_string()),
            Err(error) => return Err(ClusterError::of(&format!("see the Pod {name}"), &error)),
        }
        tokio::time::sleep(POLL).await;
    }
    let why = last.map(|why| format!(": {why}")).unwrap_or_default();
    let seconds = RUNNING.as_secs();
    Err(ClusterError::new(format!(
        "Pod {name} does not run after {seconds} s{why}"
    )))
}

/// Waits until the sidecar that meters a Pod runs.
pub(crate) async fn metered(pods: &Api<Pod>, name: &str) -> Result<(), ClusterError> {
    let began = Instant::now();
    while began.elapsed() < RUNNING {
        let pod = pods.get_opt(name).await;
        if matches!(&pod, Ok(Some(pod)) if has_meter(pod)) {
            return Ok(());
        }
        tokio::time::sleep(POLL).await;
    }
    let seconds = RUNNING.as_secs();
    Err(ClusterError::new(format!(
        "the sidecar that meters {name} does not run after {seconds} s"
    ))
    .with_hint("the cluster needs sidecar containers: Kubernetes 1.29 or newer"))
}

fn seen(pod: &Pod, has_node: &mut bool, scheduled: &mut (dyn FnMut() + Send)) -> PodState {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.as_ref());
    if node.is_some() && !*has_node {
        *has_node = true;
        scheduled();
    }
    state(pod)
}

/// Waits until a Pod of this program runs.
pub(crate) async fn running(pods: &Api<Pod>, name: &str) -> Result<Running, ClusterError> {
    begun(pods, name).await?.ok_or_else(|| {
        ClusterError::new(format!("the Pod {name} ended at once")).with_hint(format!(
            "`kubectl describe pod {name}` says more while it is there"
        ))
    })
}

/// Where a Pod is reached.
pub(crate) fn address(running: &Running, port: u16) -> Result<SocketAddr, ClusterError> {
    let ip = running.address.parse().map_err(|_| {
        ClusterError::new(format!("{} is not an address of a Pod", running.address))
    })?;
    Ok(SocketAddr::new(ip, port))
}
