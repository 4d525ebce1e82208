//! The start of a contender's Pod: how it is seen, and the error for one that never runs.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;

use crate::Spoken;
use crate::api::StartSpec;
use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::pods::client::PodClient;
use crate::kubernetes::pods::running::metered;
use crate::kubernetes::session::instance::delete_aside;
use crate::ready::monotonic_ns;
use crate::remote::client::strange;
use crate::remote::protocol::{PodReply, PodRequest, RemoteReply, RemoteRequest, Watched};

/// Returns a meter's report on the start of a Pod, and when it arrived here.
pub(crate) async fn seen_to_start(
    watcher: Option<Arc<PodClient>>,
    pods: Api<Pod>,
    name: String,
    question: RemoteRequest,
) -> Result<(PodReply, u64), ClusterError> {
    let watcher = match watcher {
        Some(watcher) => watcher,
        None => {
            metered(&pods, &name).await?;
            PodClient::sidecar(&pods, &name).await?
        }
    };
    match watcher.ask(&question).await? {
        RemoteReply::Pod(reply) => Ok((reply, monotonic_ns())),
        other => Err(ClusterError::new(strange(other))),
    }
}

/// Returns the order for which a meter watches.
pub(crate) fn watch_for(uid: String, spec: &StartSpec, spoken: Spoken) -> RemoteRequest {
    RemoteRequest::Pod(PodRequest::Watch(Watched {
        pod: uid,
        program: spec.command.first().cloned().unwrap_or_default(),
        port: spec.port,
        path: spec.ready_path.clone(),
        spoken,
        limit_ns: u64::try_from(spec.start_timeout.as_nanos()).unwrap_or(u64::MAX),
    }))
}

/// A Pod that goes again unless it is wanted: one that never ran must not take the room of the
/// next.
pub(crate) struct Made {
    pods: Api<Pod>,
    name: String,
    pub(crate) wanted: bool,
}

impl Made {
    pub(crate) fn new(pods: &Api<Pod>, name: &str) -> Self {
        Self {
            pods: pods.clone(),
            name: name.to_owned(),
            wanted: false,
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if !self.wanted {
            delete_aside(self.pods.clone(), self.name.clone());
        }
    }
}
