//! Which part runs on which node. All contenders of a session share one node, because numbers of
//! different nodes do not compare; load generator and backend are elsewhere where there is an
//! elsewhere. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Node as ApiNode;

/// A node that takes Pods.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Kernel release.
    pub kernel: String,
    /// Version of its kubelet.
    pub kubelet: String,
}

/// The node of each part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nodes {
    /// Where all contenders run, one after the other.
    pub contender: Node,
    /// Where requests are sent from.
    pub generator: Node,
    /// Where the backend runs.
    pub backend: Node,
}

impl Nodes {
    /// Spreads the parts: the contender alone on the first node, the load generator on the last
    /// one, the backend on one between them where there is one, else beside the load generator.
    /// `None` without nodes.
    #[must_use]
    pub fn spread(nodes: &[Node]) -> Option<Self> {
        let contender = nodes.first()?.clone();
        let generator = nodes.last()?.clone();
        let backend = match nodes {
            [_, between, _, ..] => between.clone(),
            _ => generator.clone(),
        };
        Some(Self {
            contender,
            generator,
            backend,
        })
    }

    /// Part -> node, for records.
    #[must_use]
    pub fn by_part(&self) -> BTreeMap<String, String> {
        [
            ("contender", &self.contender),
            ("load generator", &self.generator),
            ("backend", &self.backend),
        ]
        .map(|(part, node)| (part.to_owned(), node.name.clone()))
        .into()
    }

    /// What the user should know about it; `None` when every part is alone.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let (contender, generator) = (&self.contender.name, &self.generator.name);
        if contender == generator {
            return Some(format!(
                "the cluster has one node that takes Pods, {contender}: contender, load generator \
                 and backend share it"
            ));
        }
        (generator == &self.backend.name)
            .then(|| format!("load generator and backend share the node {generator}"))
    }
}

/// A node as the API describes it; `None` when it takes no Pods without being asked to tolerate
/// something.
pub(super) fn node(found: &ApiNode) -> Option<Node> {
    let spec = found.spec.clone().unwrap_or_default();
    let repels = |effect: &str| effect != "PreferNoSchedule";
    let is_tainted = spec.taints.unwrap_or_default();
    let is_tainted = is_tainted.iter().any(|taint| repels(&taint.effect));
    let status = found.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let is_ready = conditions
        .iter()
        .any(|condition| condition.type_ == "Ready" && condition.status == "True");
    let info = status.node_info.unwrap_or_default();
    let takes_pods = is_ready && !is_tainted && spec.unschedulable != Some(true);
    takes_pods.then(|| Node {
        name: found.metadata.name.clone().unwrap_or_default(),
        kernel: info.kernel_version,
        kubelet: info.kubelet_version,
    })
}

#[cfg(test)]
mod tests {
    use super::{Node, Nodes, node};

    fn named(name: &str) -> Node {
        Node {
            name: name.to_owned(),
            kernel: String::new(),
            kubelet: String::new(),
        }
    }

    #[test]
    fn parts_are_spread_as_far_as_nodes_go() {
        let check = |names: &[&str], expect: [&str; 3]| {
            let nodes: Vec<Node> = names.iter().map(|name| named(name)).collect();
            let spread = Nodes::spread(&nodes).unwrap();
            let found = [spread.contender, spread.generator, spread.backend];
            assert_eq!(found.each_ref().map(|node| node.name.as_str()), expect);
        };
        check(&["a"], ["a", "a", "a"]);
        check(&["a", "b"], ["a", "b", "b"]);
        check(&["a", "b", "c"], ["a", "c", "b"]);
        assert_eq!(Nodes::spread(&[]), None);
    }

    #[test]
    fn nodes_that_repel_pods_are_left_out() {
        let check = |spec: serde_json::Value, ready: &str, expect: bool| {
            let found = serde_json::json!({
                "metadata": {"name": "a"},
                "spec": spec,
                "status": {"conditions": [{"type": "Ready", "status": ready}]},
            });
            let found = serde_json::from_value(found).unwrap();
            assert_eq!(node(&found).is_some(), expect);
        };
        check(serde_json::json!({}), "True", true);
        check(serde_json::json!({}), "Unknown", false);
        check(serde_json::json!({"unschedulable": true}), "True", false);
        let taint = |effect: &str| serde_json::json!({"taints": [{"key": "x", "effect": effect}]});
        check(taint("NoSchedule"), "True", false);
        check(taint("PreferNoSchedule"), "True", true);
    }
}
