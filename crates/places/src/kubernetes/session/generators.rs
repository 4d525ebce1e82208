//! The Pods that send the load: an Indexed Job, spread over nodes. A Pod that is lost is made again
//! by the cluster, for the next load.

use std::collections::BTreeMap;
use std::time::Duration;

use bakeoff_model::load::ClockOffset;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::{ListParams, PostParams};
use tokio::time::Instant;

use crate::clock_offset::clock_offset;
use crate::kubernetes::cluster::error::{ClusterError, is_away};
use crate::kubernetes::pods::client::{Finder, PodClient};
use crate::kubernetes::pods::exec::Attached;
use crate::kubernetes::pods::running::{POLL, RUNNING};
use crate::kubernetes::pods::state::{PodState, state};
use crate::remote::client::Way as _;
use crate::remote::protocol::{RemoteReply, RemoteRequest};

/// Label with the number of a Pod of an Indexed Job.
const INDEX: &str = "batch.kubernetes.io/job-completion-index";
/// Label with the name of a Pod's Job.
const JOB: &str = "batch.kubernetes.io/job-name";

/// The Pods that send the load. Cheap to clone.
#[derive(Debug, Clone)]
pub struct LoadPods {
    pub(crate) pods: Api<Pod>,
    job: String,
    count: u32,
}

/// A running Pod of a load generator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LoadPod {
    pub(crate) name: String,
    pub(crate) node: String,
}

impl LoadPods {
    /// Makes the Pods; [`Self::all`] waits for them.
    pub(crate) async fn make(
        jobs: &Api<Job>,
        pods: Api<Pod>,
        job: &Job,
        count: u32,
    ) -> Result<Self, ClusterError> {
        let name = job.metadata.name.clone().unwrap_or_default();
        let made = jobs.create(&PostParams::default(), job).await;
        made.map_err(|error| ClusterError::of(&format!("make the Job {name}"), &error))?;
        Ok(Self {
            pods,
            job: name,
            count,
        })
    }

    /// Returns the number of Pods.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns the name of the Pod of a part.
    #[must_use]
    pub fn label(&self, index: u32) -> String {
        format!("{}-{index}", self.job)
    }

    /// Starts the load generator of a part, `bakeoff load -`, and says how far the wall clock of
    /// its node is ahead.
    ///
    /// # Errors
    /// Its Pod does not come, or the API server is away.
    pub async fn start(&self, index: u32) -> Result<(Attached, ClockOffset), ClusterError> {
        let name = self.name(index).await?;
        let inside = PodClient::start(&self.pods, &name).await?;
        let clock = clock(&inside).await?;
        let attached = Attached::start(&self.pods, &name, &["load", "-"]).await?;
        Ok((attached, clock))
    }

    /// Measures what a load generator can do in the first Pod: `bakeoff ceiling`, one line of JSON.
    ///
    /// # Errors
    /// The Pod does not come, or the way to it is cut.
    pub async fn ceiling(&self) -> Result<String, ClusterError> {
        let name = self.name(0).await?;
        let mut attached = Attached::start(&self.pods, &name, &["ceiling"]).await?;
        attached.hear().await.map_err(ClusterError::new)
    }

    /// Finds the Pod that makes a part.
    pub(crate) fn finder(&self, index: u32) -> Finder {
        let load = self.clone();
        Box::new(move || {
            let load = load.clone();
            Box::pin(async move { load.name(index).await })
        })
    }

    /// The Pod that makes a part now.
    pub(crate) async fn name(&self, index: u32) -> Result<String, ClusterError> {
        let wanted = [index];
        let mut found = self.running(&wanted).await?;
        let found = found.remove(&index).expect("it was waited for");
        Ok(found.name)
    }

    /// Returns all Pods, by their number, once they run.
    pub(crate) async fn all(&self) -> Result<BTreeMap<u32, LoadPod>, ClusterError> {
        let wanted: Vec<u32> = (0..self.count).collect();
        self.running(&wanted).await
    }

    /// Returns the wanted load generators once all of them run.
    async fn running(&self, wanted: &[u32]) -> Result<BTreeMap<u32, LoadPod>, ClusterError> {
        let began = Instant::now();
        let ours = ListParams::default().labels(&format!("{JOB}={}", self.job));
        let mut last = String::new();
        while began.elapsed() < RUNNING {
            let mut found = BTreeMap::new();
            match self.pods.list(&ours).await {
                Ok(listed) => {
                    for pod in &listed.items {
                        match (number(pod), state(pod)) {
                            (Some(index), PodState::Running(_)) if !is_leaving(pod) => {
                                found.insert(index, load_pod(pod));
                            }
                            (_, PodState::Hopeless(why)) => return Err(ClusterError::new(why)),
                            (_, PodState::Unschedulable(why)) => last = format!(": {why}"),
                            (_, PodState::Pending(Some(why))) => last = format!(": {why}"),
                            _ => {}
                        }
                    }
                }
                Err(error) if is_away(&error) => last = format!(": {error}"),
                Err(error) => return Err(ClusterError::of("see the load generators", &error)),
            }
            if wanted.iter().all(|index| found.contains_key(index)) {
                return Ok(found);
            }
            tokio::time::sleep(POLL).await;
        }
        let seconds = RUNNING.as_secs();
        Err(ClusterError::new(format!(
            "the load generators do not run after {seconds} s{last}"
        )))
    }
}

fn number(pod: &Pod) -> Option<u32> {
    let labels = pod.metadata.labels.as_ref()?;
    labels.get(INDEX)?.parse().ok()
}

fn is_leaving(pod: &Pod) -> bool {
    pod.metadata.deletion_timestamp.is_some()
}

fn load_pod(pod: &Pod) -> LoadPod {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    LoadPod {
        name: pod.metadata.name.clone().unwrap_or_default(),
        node: node.unwrap_or_default(),
    }
}

/// How far the clock of a Pod's node is ahead of the session's.
async fn clock(inside: &PodClient) -> Result<ClockOffset, ClusterError> {
    let ask = async || match inside.ask(&RemoteRequest::Clock).await? {
        RemoteReply::Clock { wall_ns, .. } => Ok(Some(wall_ns)),
        _ => Ok(None),
    };
    let offset = clock_offset(ask).await?;
    offset.ok_or_else(|| ClusterError::new("a load generator does not say what time it is"))
}

/// How long load generators of a cluster may take from an order to start until it has reached all.
pub const LEAD: Duration = Duration::from_millis(250);
