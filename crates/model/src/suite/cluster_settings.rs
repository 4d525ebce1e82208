//! The user's settings of the cluster.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The cluster, how images come there, and what sends the load.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClusterSettings {
    /// The kubeconfig's context [default: its current one].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// An existing namespace to work in [default: a new one].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Where images are pushed to, and nodes pull them from: `registry.example.org/team`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub registry: Option<String>,
    /// The command that loads an image archive, `{}`, into the nodes. It names folders of this
    /// machine, so it is in no file.
    #[serde(skip)]
    pub loader: Option<String>,
    /// Pods that send the load [default: one].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_pods: Option<u32>,
    /// Nodes that they run on; those that no other part needs when empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_nodes: Vec<String>,
    /// This program for Pods: static, when the one that runs is not.
    #[serde(skip)]
    pub program: Option<PathBuf>,
}

impl ClusterSettings {
    /// Takes over what is in no file.
    pub fn take_local(&mut self, told: &Self) {
        self.loader.clone_from(&told.loader);
        self.program.clone_from(&told.program);
    }

    /// How many Pods send the load.
    #[must_use]
    pub fn load_pods(&self) -> u32 {
        self.load_pods.unwrap_or(1).max(1)
    }

    /// Whether there is nothing in it that a file would have.
    #[must_use]
    pub fn is_default(&self) -> bool {
        let mut told = self.clone();
        told.take_local(&Self::default());
        told == Self::default()
    }

    /// Returns the command that loads images into the nodes of a context, if it is known or given.
    #[must_use]
    pub fn loader(&self, context: &str) -> Option<String> {
        let known = || {
            let kinds = [
                ("kind-", "kind load image-archive {} --name "),
                ("k3d-", "k3d image import {} --cluster "),
            ];
            kinds.into_iter().find_map(|(prefix, command)| {
                let name = context.strip_prefix(prefix)?;
                Some(format!("{command}{name}"))
            })
        };
        let minikube = || (context == "minikube").then(|| "minikube image load {}".to_owned());
        self.loader.clone().or_else(known).or_else(minikube)
    }
}

#[cfg(test)]
mod tests {
    use super::ClusterSettings;

    #[test]
    fn local_clusters_are_known() {
        let check = |context: &str, expect: Option<&str>| {
            let found = ClusterSettings::default().loader(context);
            assert_eq!(found.as_deref(), expect);
        };
        check("kind-a", Some("kind load image-archive {} --name a"));
        check("k3d-b", Some("k3d image import {} --cluster b"));
        check("minikube", Some("minikube image load {}"));
        check("prod", None);
    }
}
