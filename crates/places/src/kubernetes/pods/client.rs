//! The client of a Pod that runs this program.

use std::sync::Arc;
use std::time::Instant;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use tokio::sync::Mutex;

use crate::api::BoxFuture;
use crate::kubernetes::cluster::error::{AWAY_MAX, AWAY_PAUSE, ClusterError};
use crate::kubernetes::pods::exec::Attached;
use crate::kubernetes::pods::specs::METER;
use crate::remote::SERVE;
use crate::remote::client::RemoteClient;
use crate::remote::protocol::{RemoteReply, RemoteRequest};

/// Finds the name of a Pod.
pub(crate) type Finder =
    Box<dyn Fn() -> BoxFuture<'static, Result<String, ClusterError>> + Send + Sync>;

/// The client of a Pod that runs this program. When the connection is cut, the Pod is sought again:
/// an API server may be away for a while, and a load generator's Pod replaced.
pub(crate) struct PodClient {
    pods: Api<Pod>,
    pod: Finder,
    /// The container that runs this program, if the Pod has others.
    container: Option<&'static str>,
    /// Absent while a question is on its way.
    attached: Mutex<Option<RemoteClient<Attached>>>,
}

impl PodClient {
    pub(crate) async fn start(pods: &Api<Pod>, pod: &str) -> Result<Arc<Self>, ClusterError> {
        Self::begin_in(pods, named(pod), None).await
    }

    /// The meter that is a sidecar of another program.
    pub(crate) async fn sidecar(pods: &Api<Pod>, pod: &str) -> Result<Arc<Self>, ClusterError> {
        Self::begin_in(pods, named(pod), Some(METER)).await
    }

    /// In whichever Pod is found whenever there is a need.
    pub(crate) async fn begin(pods: &Api<Pod>, pod: Finder) -> Result<Arc<Self>, ClusterError> {
        Self::begin_in(pods, pod, None).await
    }

    async fn begin_in(
        pods: &Api<Pod>,
        pod: Finder,
        container: Option<&'static str>,
    ) -> Result<Arc<Self>, ClusterError> {
        let inside = Self {
            pods: pods.clone(),
            pod,
            container,
            attached: Mutex::new(None),
        };
        let attached = inside.attach().await?;
        *inside.attached.lock().await = Some(attached);
        Ok(Arc::new(inside))
    }

    async fn attach(&self) -> Result<RemoteClient<Attached>, ClusterError> {
        let pod = (self.pod)().await?;
        let attached = Attached::start_in(&self.pods, &pod, self.container, &[SERVE]);
        Ok(RemoteClient::new(attached.await?))
    }

    /// Asks once, or again if the way was cut; a request to a contender is sent at most once.
    pub(crate) async fn ask(&self, question: &RemoteRequest) -> Result<RemoteReply, ClusterError> {
        let mut kept = self.attached.lock().await;
        let deadline = Instant::now() + AWAY_MAX;
        loop {
            let attached = match kept.take() {
                Some(attached) => Ok(attached),
                None => self.attach().await,
            };
            let asked = match attached {
                Ok(mut attached) => match attached.ask(question).await {
                    Ok(reply) => {
                        *kept = Some(attached);
                        return Ok(reply);
                    }
                    Err(problem) => Err(ClusterError::new(problem)),
                },
                Err(error) => Err(error),
            };
            if Instant::now() >= deadline || !question.can_be_repeated() {
                return asked;
            }
            tokio::time::sleep(AWAY_PAUSE).await;
        }
    }
}

impl std::fmt::Debug for PodClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PodClient")
    }
}

/// Finds a Pod that has this name.
fn named(pod: &str) -> Finder {
    let pod = pod.to_owned();
    Box::new(move || {
        let pod = pod.clone();
        Box::pin(async { Ok(pod) })
    })
}
