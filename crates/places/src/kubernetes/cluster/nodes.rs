//! The node of each part. All contenders of a session share one node, because numbers of different
//! nodes do not compare; load generators and backend are on other nodes if there are any. Pure.

use std::collections::BTreeMap;

use bakeoff_model::record::nodes::Nodes as Placed;
use k8s_openapi::api::core::v1::Node as ApiNode;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;

use crate::kubernetes::cluster::quantity::{bytes, cores};

/// A node that takes Pods.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Node {
    /// The name of the node.
    pub name: String,
    /// The kernel release.
    pub kernel: String,
    /// The version of the kubelet.
    pub kubelet: String,
    /// The container runtime, with its version.
    pub container_runtime: String,
    /// The number of whole cores.
    pub cores: usize,
    /// CPU time that Pods may ask for, cores.
    pub allocatable_cpus: f64,
    /// Memory that Pods may ask for, bytes; `None` if the node does not report it.
    pub allocatable_memory_bytes: Option<u64>,
    /// Names of the images on the node, as far as it reports them.
    pub images: Vec<String>,
    /// Conditions under which it is short of something: `MemoryPressure`.
    pub pressure: Vec<String>,
}

/// The node of each part.
#[derive(Debug, Clone, PartialEq)]
pub struct Nodes {
    /// Where all contenders run.
    pub contender: Node,
    /// Where requests may be sent from.
    pub generators: Vec<Node>,
    /// Where the backend runs.
    pub backend: Node,
}

impl Nodes {
    /// Spreads the parts: the contender alone on the first node, the load generators on the last
    /// ones, the backend on one between them if there is one, else with a load generator. `None`
    /// without nodes.
    #[must_use]
    pub fn spread(nodes: &[Node]) -> Option<Self> {
        let contender = nodes.first()?.clone();
        let (backend, generators) = match nodes {
            [_, backend, rest @ ..] if !rest.is_empty() => (backend, rest),
            [_, other] => (other, std::slice::from_ref(other)),
            _ => (&contender, std::slice::from_ref(&contender)),
        };
        Some(Self {
            backend: backend.clone(),
            generators: generators.to_vec(),
            contender: contender.clone(),
        })
    }

    /// Spreads the parts with load generators on nodes that the user named; the contender and the
    /// backend avoid these if possible.
    #[must_use]
    pub fn with_generators(nodes: &[Node], named: &[String]) -> Option<Self> {
        let is_named = |node: &&Node| named.contains(&node.name);
        let generators: Vec<Node> = nodes.iter().filter(is_named).cloned().collect();
        let others: Vec<&Node> = nodes.iter().filter(|node| !is_named(node)).collect();
        let contender = *others.first().unwrap_or(&nodes.first()?);
        let backend = *others.get(1).unwrap_or(&generators.first()?);
        Some(Self {
            contender: contender.clone(),
            backend: backend.clone(),
            generators,
        })
    }

    /// The map of this number of load generators, as it is meant to be; `has_backend` says whether
    /// there is one.
    #[must_use]
    pub fn placed(&self, load_pods: u32, has_backend: bool) -> Placed {
        let names = self.generators.iter().map(|node| node.name.clone());
        let generators = names.cycle().take(load_pods as usize).collect();
        self.with_names(generators, has_backend)
    }

    /// The map of load generators that run on these nodes.
    pub(crate) fn with_names(&self, generators: Vec<String>, has_backend: bool) -> Placed {
        let all = [&self.contender, &self.backend];
        let all = all.into_iter().chain(&self.generators);
        let backend = has_backend.then(|| self.backend.name.clone());
        let contender = self.contender.name.clone();
        let has_part = |node: &&Node| {
            node.name == contender
                || backend.as_ref() == Some(&node.name)
                || generators.contains(&node.name)
        };
        let cores: BTreeMap<String, usize> = all
            .filter(has_part)
            .map(|node| (node.name.clone(), node.cores))
            .collect();
        Placed {
            contender,
            generators,
            backend,
            cores,
            clocks: BTreeMap::default(),
        }
    }
}

/// A node as the API describes it; `None` when it takes no Pods without being asked to tolerate
/// something.
pub(crate) fn node(found: &ApiNode) -> Option<Node> {
    let spec = found.spec.clone().unwrap_or_default();
    let repels = |effect: &str| effect != "PreferNoSchedule";
    let is_tainted = spec.taints.unwrap_or_default();
    let is_tainted = is_tainted.iter().any(|taint| repels(&taint.effect));
    let status = found.status.clone().unwrap_or_default();
    let conditions = status.conditions.unwrap_or_default();
    let holds = |type_: &str| {
        let mut named = conditions.iter().filter(|one| one.type_ == type_);
        named.any(|one| one.status == "True")
    };
    let takes_pods = holds("Ready") && !is_tainted && spec.unschedulable != Some(true);
    let pressure = ["MemoryPressure", "DiskPressure", "PIDPressure"];
    let pressure = pressure.into_iter().filter(|name| holds(name));
    let pressure = pressure.map(str::to_owned).collect();
    let amount = |of: &Option<BTreeMap<String, Quantity>>, name: &str| {
        let found = of.as_ref()?.get(name)?;
        Some(found.0.clone())
    };
    let cpus = |of: &Option<_>| cores(&amount(of, "cpu")?);
    let whole = cpus(&status.capacity).unwrap_or(1.0);
    let memory = amount(&status.allocatable, "memory");
    let images = status.images.unwrap_or_default();
    let info = status.node_info.unwrap_or_default();
    takes_pods.then(|| Node {
        name: found.metadata.name.clone().unwrap_or_default(),
        kernel: info.kernel_version,
        kubelet: info.kubelet_version,
        container_runtime: info.container_runtime_version,
        cores: (1..=4096)
            .rev()
            .find(|count| f64::from(*count) <= whole)
            .map_or(1, |count| usize::try_from(count).unwrap_or(1)),
        allocatable_cpus: cpus(&status.allocatable).unwrap_or(whole),
        allocatable_memory_bytes: memory.and_then(|text| bytes(&text)),
        images: images
            .into_iter()
            .filter_map(|one| one.names)
            .flatten()
            .collect(),
        pressure,
    })
}

#[cfg(test)]
mod tests {
    use super::{Node, Nodes, node};

    fn named(names: &[&str]) -> Vec<Node> {
        let one = |name: &&str| Node {
            name: (*name).to_owned(),
            cores: 2,
            ..Node::default()
        };
        names.iter().map(one).collect()
    }

    #[test]
    fn parts_are_spread_as_far_as_nodes_go() {
        let check = |names: &[&str], expect: &str| {
            let spread = Nodes::spread(&named(names)).unwrap();
            assert_eq!(spread.placed(2, true).describe(), expect);
        };
        check(&["a"], "contender a; load generators a, a; backend a");
        check(&["a", "b"], "contender a; load generators b, b; backend b");
        check(
            &["a", "b", "c"],
            "contender a; load generators c, c; backend b",
        );
        let four = "contender a; load generators c, d; backend b";
        check(&["a", "b", "c", "d"], four);
        assert_eq!(Nodes::spread(&[]), None);
    }

    #[test]
    fn named_nodes_are_the_load_generators() {
        let check = |wanted: &[&str], expect: &str| {
            let wanted: Vec<String> = wanted.iter().map(|name| (*name).to_owned()).collect();
            let spread = Nodes::with_generators(&named(&["a", "b", "c"]), &wanted).unwrap();
            assert_eq!(spread.placed(1, true).describe(), expect);
        };
        check(&["a"], "contender b; load generator a; backend c");
        check(&["a", "b"], "contender c; load generator a; backend a");
    }

    #[test]
    fn nodes_that_repel_pods_are_left_out() {
        let check = |spec: serde_json::Value, ready: &str, expect: bool| {
            let found = serde_json::json!({
                "metadata": {"name": "a"},
                "spec": spec,
                "status": {
                    "conditions": [{"type": "Ready", "status": ready}],
                    "capacity": {"cpu": "4"},
                },
            });
            let found = serde_json::from_value(found).unwrap();
            assert_eq!(node(&found).map(|node| node.cores), expect.then_some(4));
        };
        check(serde_json::json!({}), "True", true);
        check(serde_json::json!({}), "Unknown", false);
        check(serde_json::json!({"unschedulable": true}), "True", false);
        let taint = |effect: &str| serde_json::json!({"taints": [{"key": "x", "effect": effect}]});
        check(taint("NoSchedule"), "True", false);
        check(taint("PreferNoSchedule"), "True", true);
    }
}
