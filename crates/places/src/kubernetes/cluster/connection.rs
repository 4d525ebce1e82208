//! The cluster that the user's kubeconfig names.

use k8s_openapi::api::apps::v1::{DaemonSet, Deployment};
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{ConfigMap, Event, Namespace, Node as ApiNode, Pod};
use kube::api::ListParams;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};

use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::cluster::nodes::{Node, node};

/// A connection to the API server. Cheap to clone.
#[derive(Clone)]
pub struct Cluster {
    client: Client,
    config: Config,
    context: String,
    version: String,
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cluster({} {})", self.context, self.version)
    }
}

impl Cluster {
    /// Connects to the cluster of this context [default: the current one]. The
    /// kubeconfig is found as kubectl finds it.
    ///
    /// # Errors
    /// There is no kubeconfig, it has no such context, or the API server does not respond.
    pub async fn find(context: Option<&str>) -> Result<Self, ClusterError> {
        let unusable = |error: &dyn std::fmt::Display| {
            ClusterError::new(format!("no cluster can be used: {error}"))
                .with_hint("set KUBECONFIG to a kubeconfig whose current context is the cluster")
        };
        let file = Kubeconfig::read().map_err(|error| unusable(&error))?;
        let current = file.current_context.clone();
        let name = context.map(str::to_owned).or(current).unwrap_or_default();
        let options = KubeConfigOptions {
            context: context.map(str::to_owned),
            ..KubeConfigOptions::default()
        };
        let config = Config::from_custom_kubeconfig(file, &options).await;
        let mut config = config.map_err(|error| unusable(&error))?;
        // An exec may be silent for as long as a step of load.
        config.read_timeout = None;
        let client = client(&config)?;
        let version = client.apiserver_version().await;
        let version = version.map_err(|error| {
            ClusterError::of(&format!("reach the cluster of context {name}"), &error)
        })?;
        Ok(Self {
            client,
            config,
            context: name,
            version: version.git_version,
        })
    }

    #[cfg(test)]
    pub(crate) fn mocked(client: Client, config: Config) -> Self {
        Self {
            client,
            config,
            context: "mocked".to_owned(),
            version: "v1".to_owned(),
        }
    }

    /// The context of the kubeconfig.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.context
    }

    /// Version of the API server.
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The nodes that take Pods without asking for tolerations, by name.
    ///
    /// # Errors
    /// They may not be listed.
    pub async fn nodes(&self) -> Result<Vec<Node>, ClusterError> {
        let api: Api<ApiNode> = Api::all(self.client.clone());
        let listed = api.list(&ListParams::default()).await;
        let listed = listed.map_err(|error| ClusterError::of("list the nodes", &error))?;
        let mut nodes: Vec<Node> = listed.items.iter().filter_map(node).collect();
        nodes.sort_by(|one, two| one.name.cmp(&two.name));
        Ok(nodes)
    }

    /// Which policy a node's kubelet has for CPUs, as it says itself if one may ask.
    pub(crate) async fn cpu_manager(&self, node: &str) -> String {
        let path = format!("/api/v1/nodes/{node}/proxy/configz");
        let request = hyper::Request::get(path).body(Vec::new());
        let unknown = || "not known".to_owned();
        let Ok(request) = request else {
            return unknown();
        };
        let Ok(config) = self.client.request::<serde_json::Value>(request).await else {
            return unknown();
        };
        let policy = config.pointer("/kubeletconfig/cpuManagerPolicy");
        let policy = policy.and_then(serde_json::Value::as_str);
        policy.map_or_else(unknown, str::to_owned)
    }

    /// Returns the cluster over separate connections.
    pub(crate) fn afresh(&self) -> Option<Self> {
        Some(Self {
            client: client(&self.config).ok()?,
            ..self.clone()
        })
    }

    /// Things of the cluster itself.
    pub(crate) fn all<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = k8s_openapi::ClusterResourceScope, DynamicType = ()>,
    {
        Api::all(self.client.clone())
    }

    pub(crate) fn namespaces(&self) -> Api<Namespace> {
        Api::all(self.client.clone())
    }

    pub(crate) fn daemon_sets(&self) -> Api<DaemonSet> {
        Api::all(self.client.clone())
    }

    pub(crate) fn jobs(&self, namespace: &str) -> Api<Job> {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub(crate) fn deployments(&self, namespace: &str) -> Api<Deployment> {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub(crate) fn config_maps(&self, namespace: &str) -> Api<ConfigMap> {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub(crate) fn events(&self, namespace: &str) -> Api<Event> {
        Api::namespaced(self.client.clone(), namespace)
    }

    pub(crate) fn pods(&self, namespace: &str) -> Api<Pod> {
        Api::namespaced(self.client.clone(), namespace)
    }
}

fn client(config: &Config) -> Result<Client, ClusterError> {
    Client::try_from(config.clone())
        .map_err(|error| ClusterError::of("make a client of the kubeconfig", &error))
}

#[cfg(test)]
mod tests {
    use bakeoff_base::problem::Problem;
    use serde_json::json;

    use crate::kubernetes::cluster::mocked::{cluster, status};

    #[tokio::test]
    async fn nodes_that_take_pods_are_sorted() {
        let cluster = cluster(&[("/api/v1/nodes", 200, || {
            let node = |name: &str, ready: &str| {
                json!({
                    "metadata": {"name": name},
                    "status": {
                        "conditions": [{"type": "Ready", "status": ready}],
                        "capacity": {"cpu": "4"},
                        "allocatable": {"cpu": "3800m", "memory": "8Gi"},
                    },
                })
            };
            let items = [node("b", "True"), node("a", "True"), node("c", "False")];
            json!({"kind": "NodeList", "apiVersion": "v1", "metadata": {}, "items": items})
        })]);
        let nodes = cluster.nodes().await.unwrap();
        let names: Vec<&str> = nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(nodes[0].allocatable_memory_bytes, Some(8 << 30));
    }

    #[tokio::test]
    async fn a_refusal_is_a_sentence_with_what_to_do() {
        let cluster = cluster(&[("/api/v1/nodes", 403, || status(403, "nodes is forbidden"))]);
        let error = cluster.nodes().await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot list the nodes: nodes is forbidden"
        );
        let problem = Problem::from(error);
        let hint = &problem.hints()[0];
        assert!(hint.contains("bakeoff kubernetes manifest"), "{hint}");
    }
}
