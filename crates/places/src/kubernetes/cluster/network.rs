//! The network plug-in of a cluster, by the DaemonSet that installs it on the nodes.

use k8s_openapi::api::apps::v1::DaemonSet;
use kube::api::ListParams;

use crate::kubernetes::cluster::connection::Cluster;

/// Parts of the names of such DaemonSets.
const PLUGINS: [&str; 10] = [
    "antrea",
    "aws-node",
    "azure-cni",
    "calico",
    "canal",
    "cilium",
    "flannel",
    "kindnet",
    "ovn",
    "weave",
];

/// The plug-in with its version, the tag of its image, if one may ask and it is a known one.
pub(crate) async fn plugin(cluster: &Cluster) -> String {
    let sets = cluster.daemon_sets().list(&ListParams::default()).await;
    let sets = sets.map_or_else(|_| Vec::new(), |found| found.items);
    let found = sets.iter().find_map(named);
    found.unwrap_or_else(|| "not known".to_owned())
}

/// `NAME TAG`, when it brings a plug-in.
fn named(set: &DaemonSet) -> Option<String> {
    let name = set.metadata.name.as_ref()?;
    PLUGINS.iter().find(|known| name.contains(**known))?;
    let containers = &set.spec.as_ref()?.template.spec.as_ref()?.containers;
    let image = containers.first()?.image.as_ref()?;
    let image = image.split('@').next()?.rsplit('/').next()?;
    let tag = image.split_once(':').map_or("", |(_, tag)| tag);
    Some(format!("{name} {tag}").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::named;

    #[test]
    fn a_plug_in_is_known_by_name() {
        for (name, of, expect) in [
            (
                "kube-flannel-ds",
                "example.org/a/flannel:v0.26.1",
                Some("kube-flannel-ds v0.26.1"),
            ),
            (
                "calico-node",
                "calico/node:v3.29@sha256:12",
                Some("calico-node v3.29"),
            ),
            ("kube-proxy", "example.org/kube-proxy:v1.34", None),
        ] {
            let set = json!({
                "metadata": {"name": name},
                "spec": {
                    "selector": {},
                    "template": {"spec": {"containers": [{"name": "a", "image": of}]}},
                },
            });
            let set = serde_json::from_value(set).unwrap();
            assert_eq!(named(&set).as_deref(), expect);
        }
    }
}
