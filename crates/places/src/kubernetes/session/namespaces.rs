//! The objects of a session in a cluster: two namespaces, because Pod Security holds for a whole
//! one and the meter must see files of its node. Whatever is in them goes with them, at the end or
//! at the next start after a kill. If the user names a namespace, that one and `NAME-meter` are
//! used, and what is ours in them is known by its labels.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{Event, Namespace, Pod};
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use serde_json::json;

use crate::api::SweepError;
use crate::kubernetes::cluster::connection::Cluster;
use crate::kubernetes::cluster::error::{ClusterError, is_missing};
use crate::ownership::{SESSION, is_dead, labels};
use crate::ready::wall_ns;
use crate::sweep::unique_name;

/// How long what is deleted may take to go.
const REMOVAL: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(250);

/// The namespaces of a session; dropping them removes what is the session's.
#[derive(Debug)]
pub(crate) struct Namespaces {
    cluster: Cluster,
    /// Contender, load generators, backend.
    pub(crate) restricted: String,
    /// The meters; none if the cluster refuses them.
    pub(crate) metering: Option<String>,
    /// Whether the namespaces are the session's own.
    own: bool,
    /// The prefix of names of Pods, so that no two sessions have the same.
    pub(crate) prefix: String,
    removed: AtomicBool,
}

impl Namespaces {
    /// Makes the namespaces, or takes those that the user named.
    pub(crate) async fn make(cluster: &Cluster, named: Option<&str>) -> Result<Self, ClusterError> {
        // Process numbers of several hosts may be the same.
        let moment = wall_ns() & 0xff_ffff;
        let unique = format!("{}-{moment:x}", unique_name("run").to_lowercase());
        let restricted = named.map_or_else(|| unique.clone(), str::to_owned);
        let mut made = Self {
            cluster: cluster.clone(),
            metering: Some(metering(&restricted)),
            restricted,
            own: named.is_none(),
            prefix: match named {
                Some(_) => format!("{unique}-"),
                None => String::new(),
            },
            removed: false.into(),
        };
        if made.own {
            make(cluster, &made.restricted, "restricted").await?;
            match make(cluster, &metering(&made.restricted), "privileged").await {
                Err(error) if error.is_refusal() => made.metering = None,
                other => other?,
            }
        }
        Ok(made)
    }

    pub(crate) fn pods(&self) -> Api<Pod> {
        self.cluster.pods(&self.restricted)
    }

    pub(crate) fn jobs(&self) -> Api<Job> {
        self.cluster.jobs(&self.restricted)
    }

    pub(crate) fn events(&self) -> Api<Event> {
        self.cluster.events(&self.restricted)
    }

    pub(crate) fn meters(&self) -> Api<Pod> {
        let namespace = self.metering.as_ref().unwrap_or(&self.restricted);
        self.cluster.pods(namespace)
    }

    /// The places of all that is the session's.
    fn all(&self) -> Vec<String> {
        let both = [Some(&self.restricted), self.metering.as_ref()];
        both.into_iter().flatten().cloned().collect()
    }

    /// Removes both, or what is ours in them, and waits until it is gone.
    pub(crate) async fn remove(&self) -> Result<(), ClusterError> {
        self.removed.store(true, Ordering::Relaxed);
        let removing = async |name: String| match self.own {
            true => remove(&self.cluster, &name).await,
            false => clear(&self.cluster, &name, &selector()).await.map(|_| ()),
        };
        let removed = join_all(self.all().into_iter().map(removing)).await;
        removed.into_iter().collect()
    }
}

fn metering(restricted: &str) -> String {
    format!("{restricted}-meter")
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        if self.removed.load(Ordering::Relaxed) {
            return;
        }
        let cluster = self.cluster.clone();
        let names = self.all();
        let own = self.own;
        let aside = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(async {
                let Some(cluster) = cluster.afresh() else {
                    return;
                };
                for name in names {
                    // Objects that cannot be removed now are left to the next sweep.
                    let _ = match own {
                        true => delete(&cluster, &name).await,
                        false => delete_ours(&cluster, &name, &selector()).await,
                    };
                }
            });
        });
        let _ = aside.join();
    }
}

async fn make(cluster: &Cluster, name: &str, security: &str) -> Result<(), ClusterError> {
    let mut labels = own_labels();
    let enforce = "pod-security.kubernetes.io/enforce".to_owned();
    labels.insert(enforce, security.to_owned());
    let namespace = json!({"metadata": {"name": name, "labels": labels}});
    let namespace: Namespace =
        serde_json::from_value(namespace).expect("what is written above is a namespace");
    let made = cluster
        .namespaces()
        .create(&PostParams::default(), &namespace)
        .await;
    let what = format!("make the namespace {name}");
    made.map_err(|error| ClusterError::of(&what, &error))?;
    Ok(())
}

/// The labels of everything that this process makes.
pub(crate) fn own_labels() -> BTreeMap<String, String> {
    labels().into_iter().collect()
}

/// Returns the selector of everything that this process made.
fn selector() -> String {
    selector_of(&own_labels())
}

fn selector_of(labels: &BTreeMap<String, String>) -> String {
    let equal = |(name, value): (&String, &String)| format!("{name}={value}");
    let parts: Vec<String> = labels.iter().map(equal).collect();
    parts.join(",")
}

/// Asks for the end of a namespace and of all that is in it.
async fn delete(cluster: &Cluster, name: &str) -> Result<(), ClusterError> {
    // Pods first, without the grace that they would get from the namespace's end.
    let emptied = delete_ours(cluster, name, SESSION).await;
    let deleted = cluster
        .namespaces()
        .delete(name, &DeleteParams::default())
        .await;
    match (emptied, deleted) {
        (_, Err(error)) if !is_missing(&error) => Err(ClusterError::of(
            &format!("remove the namespace {name}"),
            &error,
        )),
        _ => Ok(()),
    }
}

/// Asks for the end of the Jobs and Pods with such labels.
async fn delete_ours(cluster: &Cluster, name: &str, selector: &str) -> Result<(), ClusterError> {
    let ours = ListParams::default().labels(selector);
    let what = format!("remove what is in the namespace {name}");
    // Without its Job a Pod is not made again.
    let jobs = cluster.jobs(name);
    let background = DeleteParams::background();
    let jobs = jobs.delete_collection(&background, &ours).await;
    let at_once = DeleteParams::default().grace_period(0);
    let pods = cluster.pods(name).delete_collection(&at_once, &ours).await;
    // The meters have no Jobs, and deleting Jobs need not be allowed in their namespace.
    drop(jobs);
    match pods {
        Err(error) if !is_missing(&error) => Err(ClusterError::of(&what, &error)),
        _ => Ok(()),
    }
}

/// Removes a namespace and waits until it is gone.
async fn remove(cluster: &Cluster, name: &str) -> Result<(), ClusterError> {
    delete(cluster, name).await?;
    let namespaces = cluster.namespaces();
    let waiting = async {
        while matches!(namespaces.get_opt(name).await, Ok(Some(_))) {
            tokio::time::sleep(PAUSE).await;
        }
    };
    let gone = tokio::time::timeout(REMOVAL, waiting).await;
    gone.map_err(|_| still_there(&format!("the namespace {name}")))
}

/// Removes the Jobs and Pods with such labels and waits until they are gone; how many they were.
async fn clear(cluster: &Cluster, name: &str, selector: &str) -> Result<usize, ClusterError> {
    let ours = ListParams::default().labels(selector);
    let pods = cluster.pods(name);
    let found = pods.list(&ours).await.map_or(0, |found| found.items.len());
    delete_ours(cluster, name, selector).await?;
    let waiting = async {
        while matches!(pods.list(&ours).await, Ok(found) if !found.items.is_empty()) {
            tokio::time::sleep(PAUSE).await;
        }
    };
    let gone = tokio::time::timeout(REMOVAL, waiting).await;
    gone.map_err(|_| still_there(&format!("something in the namespace {name}")))?;
    Ok(found)
}

fn still_there(what: &str) -> ClusterError {
    let seconds = REMOVAL.as_secs();
    ClusterError::new(format!(
        "{what} is still there {seconds} s after it was deleted"
    ))
    .with_hint("`kubectl describe` says what holds it")
}

/// Removes what dead sessions left: their namespaces, or in a namespace that the user names what
/// has their labels. One line a thing.
pub(crate) async fn sweep(
    cluster: &Cluster,
    named: Option<&str>,
) -> Result<Vec<String>, SweepError> {
    match named {
        None => sweep_namespaces(cluster).await,
        Some(name) => {
            let mut removed = sweep_inside(cluster, name).await?;
            // A user who may not see meters has made none.
            removed.extend(
                sweep_inside(cluster, &metering(name))
                    .await
                    .unwrap_or_default(),
            );
            Ok(removed)
        }
    }
}

fn failed(what: &str, error: &ClusterError) -> SweepError {
    SweepError {
        what: what.to_owned(),
        message: error.to_string(),
    }
}

async fn sweep_namespaces(cluster: &Cluster) -> Result<Vec<String>, SweepError> {
    let ours = ListParams::default().labels(SESSION);
    let found = cluster.namespaces().list(&ours).await;
    let found = found.map_err(|error| {
        failed(
            "namespaces",
            &ClusterError::of("list the namespaces", &error),
        )
    })?;
    let mut removed = Vec::new();
    for namespace in found {
        let labels = namespace.metadata.labels.unwrap_or_default();
        if !is_dead(&labels.into_iter().collect()) {
            continue;
        }
        let name = namespace.metadata.name.unwrap_or_default();
        let what = format!("namespace {name}");
        remove(cluster, &name)
            .await
            .map_err(|error| failed(&what, &error))?;
        removed.push(what);
    }
    Ok(removed)
}

async fn sweep_inside(cluster: &Cluster, name: &str) -> Result<Vec<String>, SweepError> {
    let ours = ListParams::default().labels(SESSION);
    let what = format!("Pods in the namespace {name}");
    let found = cluster.pods(name).list(&ours).await;
    let found = found.map_err(|error| failed(&what, &ClusterError::of("list the Pods", &error)))?;
    let names = own_labels();
    let mut dead: Vec<String> = Vec::new();
    for pod in found {
        let labels = pod.metadata.labels.unwrap_or_default();
        if !is_dead(&labels.clone().into_iter().collect()) {
            continue;
        }
        let kept = labels
            .into_iter()
            .filter(|(name, _)| names.contains_key(name));
        let selector = selector_of(&kept.collect());
        if !dead.contains(&selector) {
            dead.push(selector);
        }
    }
    let mut removed = Vec::new();
    for selector in dead {
        let count = clear(cluster, name, &selector).await;
        let count = count.map_err(|error| failed(&what, &error))?;
        removed.push(format!("{count} {what}"));
    }
    Ok(removed)
}
