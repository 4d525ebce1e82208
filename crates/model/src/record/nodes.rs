//! The nodes of a cluster, or hosts, on which the parts of a run were. Parts of one node share
//! its cores.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::load::ClockOffset;

/// The map of the parts.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Nodes {
    /// The contender's node.
    pub contender: String,
    /// Nodes of the load generators, in the order of their parts.
    pub generators: Vec<String>,
    /// The backend's node; absent without a backend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub backend: Option<String>,
    /// Cores of each of these nodes.
    #[serde(default)]
    pub cores: BTreeMap<String, usize>,
    /// Wall clocks of other hosts that were reached by SSH, at the start of the session; absent if
    /// there are none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub clocks: BTreeMap<String, ClockOffset>,
}

impl Nodes {
    /// Share of the load generators that are on a node, 0 to 1.
    #[must_use]
    pub fn generators_on(&self, node: &str) -> f64 {
        let count = |nodes: usize| f64::from(u32::try_from(nodes).unwrap_or(u32::MAX));
        let there = self.generators.iter().filter(|one| *one == node).count();
        count(there) / count(self.generators.len().max(1))
    }

    /// Whether the backend is on a node.
    #[must_use]
    pub fn backend_on(&self, node: &str) -> bool {
        self.backend.as_deref() == Some(node)
    }

    /// Cores of a node; 1 if they are not known.
    #[must_use]
    pub fn cores_of(&self, node: &str) -> usize {
        self.cores.get(node).copied().unwrap_or(1).max(1)
    }

    /// A node that a load generator shares with the backend, and not with the contender.
    #[must_use]
    pub fn beside_backend(&self) -> Option<&str> {
        let backend = self.backend.as_deref()?;
        let shared = backend != self.contender && self.generators_on(backend) > 0.0;
        shared.then_some(backend)
    }

    /// Whether the contender has its node for itself.
    #[must_use]
    pub fn contender_is_alone(&self) -> bool {
        self.generators_on(&self.contender) == 0.0 && !self.backend_on(&self.contender)
    }

    /// The map in words: `contender n1; load generators n2, n3; backend n2`.
    #[must_use]
    pub fn describe(&self) -> String {
        let plural = if self.generators.len() == 1 { "" } else { "s" };
        let mut words = format!(
            "contender {}; load generator{plural} {}",
            self.contender,
            self.generators.join(", ")
        );
        if let Some(backend) = &self.backend {
            words.push_str("; backend ");
            words.push_str(backend);
        }
        words
    }

    /// Which parts share a node, a sentence each; none if every part is alone.
    #[must_use]
    pub fn sharing(&self) -> Vec<String> {
        let node = &self.contender;
        let with = match (self.generators_on(node) > 0.0, self.backend_on(node)) {
            (true, true) => Some("contender, load generator and backend"),
            (true, false) => Some("contender and load generator"),
            (false, true) => Some("contender and backend"),
            (false, false) => None,
        };
        let with = with.map(|parts| format!("{parts} share the node {node}"));
        let beside = self
            .beside_backend()
            .map(|node| format!("load generator and backend share the node {node}"));
        with.into_iter().chain(beside).collect()
    }
}

/// How a Pod came to its node. Times from the moment the start was asked for, ns.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PodStart {
    /// Until the cluster had chosen its node, as seen within 50 ms.
    pub scheduled_ns: u64,
    /// Until the node had started to make it.
    pub taken_ns: u64,
    /// How long the node pulled the image, 0 if it had it; absent if the cluster does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_ns: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::Nodes;

    #[test]
    fn what_shares_a_node_is_said() {
        let check = |contender: &str, generators: &[&str], backend: &str, expect: &[&str]| {
            let nodes = Nodes {
                contender: contender.to_owned(),
                generators: generators.iter().map(|one| (*one).to_owned()).collect(),
                backend: (!backend.is_empty()).then(|| backend.to_owned()),
                ..Nodes::default()
            };
            assert_eq!(nodes.sharing(), expect);
            assert_eq!(
                nodes.contender_is_alone(),
                !expect.iter().any(|one| one.starts_with("contender"))
            );
        };
        check("a", &["b"], "c", &[]);
        check("a", &["b"], "", &[]);
        let beside = "load generator and backend share the node b";
        check("a", &["b"], "b", &[beside]);
        check("a", &["c", "b"], "b", &[beside]);
        let all = "contender, load generator and backend share the node a";
        check("a", &["a"], "a", &[all]);
        let two = "contender and load generator share the node a";
        check("a", &["a", "b"], "b", &[two, beside]);
    }

    #[test]
    fn the_map_is_words() {
        let nodes = Nodes {
            contender: "n1".to_owned(),
            generators: vec!["n2".to_owned(), "n3".to_owned()],
            backend: Some("n2".to_owned()),
            ..Nodes::default()
        };
        assert_eq!(
            nodes.describe(),
            "contender n1; load generators n2, n3; backend n2"
        );
        assert!((nodes.generators_on("n2") - 0.5).abs() < 1e-9);
    }
}
