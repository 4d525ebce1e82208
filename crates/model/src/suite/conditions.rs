//! The conditions of a run: what starts the contender, what limits it, what it calls,
//! which path its traffic takes. Files and people see each as one word or phrase.

use std::fmt;

use bakeoff_base::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::text::text_enum::text_enum;

text_enum! {
    /// The runtime that starts and stops contenders.
    "runtime" RuntimeKind {
        /// Local processes, each in a separate cgroup.
        Process = "process",
        /// Containers of a Docker engine.
        Docker = "docker",
        /// Pods of a Kubernetes cluster.
        Kubernetes = "kubernetes",
        /// Nothing: the service runs already, and only its URL is known.
        External = "external",
    }
}

text_enum! {
    /// The service that the contenders of a suite call.
    "backend" BackendName {
        /// Nothing.
        None = "none",
        /// Recorded exchanges of a real backend, replayed from memory.
        Replay = "replay",
        /// A real Elasticsearch.
        Elasticsearch = "elasticsearch",
        /// A real PostgreSQL.
        Postgres = "postgres",
        /// Nothing but the dependencies of the suite.
        Dependencies = "dependencies",
    }
}

text_enum! {
    /// How requests travel from the load generator to the contender.
    "traffic path" TrafficPath {
        /// Over the host's loopback interface.
        Loopback = "loopback",
        /// Over a pair of virtual Ethernet devices, to the network namespace of the process.
        Veth = "veth",
        /// To the container's own address, past every proxy of published ports.
        ContainerAddress = "container address",
        /// To the Pod's own address, past every Service.
        PodAddress = "pod address",
        /// Over the network of the host, which the container shares.
        HostNetwork = "host network",
        /// Over a network that is not ours.
        External = "external",
    }
}

/// How the limits of a contender are enforced. In files it is one text: `cgroup-v1`, `cgroup-v2`,
/// `docker`, `kubernetes` or `unlimited: REASON`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Enforcement {
    /// By a control group of version 1.
    CgroupV1,
    /// By a control group of version 2.
    CgroupV2,
    /// By the Docker engine.
    Docker,
    /// By the kubelet of the contender's node.
    Kubernetes,
    /// Not at all, or not completely.
    Unlimited {
        /// Why not.
        reason: String,
    },
}

impl Enforcement {
    /// Why limits are not enforced; `None` if they are.
    #[must_use]
    pub fn unlimited_because(&self) -> Option<&str> {
        match self {
            Self::Unlimited { reason } => Some(reason),
            Self::CgroupV1 | Self::CgroupV2 | Self::Docker | Self::Kubernetes => None,
        }
    }
}

impl fmt::Display for Enforcement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CgroupV1 => f.write_str("cgroup-v1"),
            Self::CgroupV2 => f.write_str("cgroup-v2"),
            Self::Docker => f.write_str("docker"),
            Self::Kubernetes => f.write_str("kubernetes"),
            Self::Unlimited { reason } => write!(f, "unlimited: {reason}"),
        }
    }
}

impl From<Enforcement> for String {
    fn from(enforcement: Enforcement) -> Self {
        enforcement.to_string()
    }
}

impl TryFrom<String> for Enforcement {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        match text.as_str() {
            "cgroup-v1" => Ok(Self::CgroupV1),
            "cgroup-v2" => Ok(Self::CgroupV2),
            "docker" => Ok(Self::Docker),
            "kubernetes" => Ok(Self::Kubernetes),
            other => match other.strip_prefix("unlimited: ") {
                Some(reason) => Ok(Self::Unlimited {
                    reason: reason.to_owned(),
                }),
                None => Err(format!("unknown enforcement of limits {other:?}").into()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BackendName, Enforcement, RuntimeKind, TrafficPath};

    #[test]
    fn names_are_read_as_they_are_written() {
        for kind in RuntimeKind::ALL {
            assert_eq!(kind.name().parse(), Ok(*kind));
            assert_eq!(
                serde_json::to_value(kind).unwrap(),
                serde_json::Value::from(kind.name())
            );
        }
        let path: TrafficPath = serde_json::from_str("\"container address\"").unwrap();
        assert_eq!(path, TrafficPath::ContainerAddress);
    }

    #[test]
    fn an_unknown_name_lists_the_known_ones() {
        let error = "elastic".parse::<BackendName>().unwrap_err();
        assert_eq!(error.to_string(), "unknown backend `elastic`");
        assert!(
            error
                .hint()
                .ends_with("known: none, replay, elasticsearch, postgres, dependencies")
        );
    }

    #[test]
    fn enforcement_is_one_text() {
        let limited = ["cgroup-v1", "cgroup-v2", "docker", "kubernetes"];
        for text in limited.into_iter().chain(["unlimited: no cgroups"]) {
            let enforcement = Enforcement::try_from(text.to_owned()).unwrap();
            assert_eq!(enforcement.to_string(), text);
            assert_eq!(
                enforcement.unlimited_because(),
                text.strip_prefix("unlimited: ")
            );
        }
        assert!(Enforcement::try_from("unlimited".to_owned()).is_err());
    }
}
