//! What a session makes in a cluster: two namespaces, because Pod Security holds for a whole one
//! and the meter must see files of its node. Whatever is in them goes with them, at the end or at
//! the next start after a kill.

use std::collections::BTreeMap;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Namespace, Pod};
use kube::Api;
use kube::api::{DeleteParams, ListParams, PostParams};
use serde_json::json;

use crate::api::SweepError;
use crate::owner::{SESSION, is_dead, labels};
use crate::sweep::unique_name;

use super::cluster::Cluster;
use super::error::{ClusterError, is_missing};

/// How long a namespace may take to go.
const REMOVAL: Duration = Duration::from_secs(60);
const PAUSE: Duration = Duration::from_millis(250);

/// The namespaces of a session; dropping them removes them.
#[derive(Debug)]
pub(super) struct Namespaces {
    cluster: Cluster,
    /// Contender, load generator, backend.
    pub(super) restricted: String,
    /// The meters.
    pub(super) metering: String,
    removed: bool,
}

impl Namespaces {
    pub(super) async fn make(cluster: &Cluster) -> Result<Self, ClusterError> {
        let restricted = unique_name("run").to_lowercase();
        let made = Self {
            cluster: cluster.clone(),
            metering: format!("{restricted}-meter"),
            restricted,
            removed: false,
        };
        make(cluster, &made.restricted, "restricted").await?;
        make(cluster, &made.metering, "privileged").await?;
        Ok(made)
    }

    pub(super) fn pods(&self) -> Api<Pod> {
        self.cluster.pods(&self.restricted)
    }

    pub(super) fn meters(&self) -> Api<Pod> {
        self.cluster.pods(&self.metering)
    }

    /// Removes both, and waits until they are gone.
    pub(super) async fn remove(mut self) -> Result<(), ClusterError> {
        self.removed = true;
        let removed = remove(&self.cluster, &self.restricted).await;
        remove(&self.cluster, &self.metering).await.and(removed)
    }
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        if self.removed {
            return;
        }
        let cluster = self.cluster.clone();
        let names = [self.restricted.clone(), self.metering.clone()];
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
                    // What cannot be removed now is left to the next sweep.
                    let _ = delete(&cluster, &name).await;
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
pub(super) fn own_labels() -> BTreeMap<String, String> {
    labels().into_iter().collect()
}

async fn delete(cluster: &Cluster, name: &str) -> Result<(), ClusterError> {
    let parameters = DeleteParams::default().grace_period(0);
    // Pods first, without the grace that they would get from the namespace's end.
    let pods = cluster.pods(name);
    let emptied = pods
        .delete_collection(&parameters, &ListParams::default())
        .await;
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

async fn remove(cluster: &Cluster, name: &str) -> Result<(), ClusterError> {
    delete(cluster, name).await?;
    let gone = async {
        while matches!(cluster.namespaces().get_opt(name).await, Ok(Some(_))) {
            tokio::time::sleep(PAUSE).await;
        }
    };
    let gone = tokio::time::timeout(REMOVAL, gone).await;
    gone.map_err(|_| {
        ClusterError::new(format!(
            "the namespace {name} is still there {} s after it was deleted",
            REMOVAL.as_secs()
        ))
        .with_hint(format!(
            "`kubectl describe namespace {name}` says what holds it"
        ))
    })
}

/// Removes the namespaces of dead sessions; one line each.
pub(super) async fn sweep(cluster: &Cluster) -> Result<Vec<String>, SweepError> {
    let failed = |what: &str, error: &ClusterError| SweepError {
        what: what.to_owned(),
        message: error.to_string(),
    };
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
