//! The Pods of a session. Pure. All but the meter keep to Pod Security "restricted".

use std::collections::BTreeMap;
use std::path::Path;

use bakeoff_model::suite::Limits;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use crate::api::StartSpec;
use crate::kubernetes::pods::node_image::NodeImage;
use crate::remote::{CGROUP_MOUNT, PROGRAM, SCRATCH};

/// The container that meters the other one of its Pod.
pub(crate) const METER: &str = "meter";
/// The CPU that the meter and the node's own Pods request besides a contender, cores.
const CPUS_OF_OTHERS: f64 = 0.2;
/// Load generators that may be lost in a session before the cluster makes no others.
const LOST_MAX: u32 = 1000;
/// The user of processes in Pods: `nobody`.
const USER: i64 = 65_534;

/// The properties that all Pods of a session share.
#[derive(Debug, Clone)]
pub(crate) struct Common {
    /// Labels of everything that is made.
    pub(crate) labels: BTreeMap<String, String>,
    /// CPU time that Pods may ask for on the contenders' node, cores.
    pub(crate) allocatable_cpus: f64,
}

/// One Pod.
#[derive(Debug, Clone)]
pub(crate) struct PodOrder<'a> {
    pub(crate) name: &'a str,
    /// The role of the Pod in the session: `contender`, `backend`, `generator`, `meter`.
    pub(crate) part: &'static str,
    pub(crate) image: &'a NodeImage,
    /// Nodes on which the Pod may run.
    pub(crate) nodes: &'a [&'a str],
    /// The image of this program, if a sidecar meters the Pod.
    pub(crate) meter: Option<&'a NodeImage>,
}

impl Common {
    /// A contender: requests and limits are the profile's, so that it is Guaranteed if both are
    /// given. If a node has less than the limit, or contenders take turns on it, which need its
    /// cores one after the other, it asks for less CPU time, so that all of them run at all.
    pub(crate) fn contender(&self, order: &PodOrder<'_>, spec: &StartSpec) -> Pod {
        let limits = limits(&spec.limits);
        let mut requests = limits.clone();
        let left = self.allocatable_cpus - CPUS_OF_OTHERS;
        if spec
            .limits
            .cpus
            .is_some_and(|cpus| spec.container.takes_turns || cpus > left)
        {
            requests.insert("cpu", "100m".to_owned());
        }
        let mut container = json!({
            "env": env(&spec.env),
            "resources": {"requests": &requests, "limits": &limits},
            "ports": [{"containerPort": spec.port}],
        });
        if !spec.command.is_empty() {
            container["command"] = json!(&spec.command);
        }
        if !spec.arguments.is_empty() {
            container["args"] = json!(&spec.arguments);
        }
        if spec.workdir != Path::new("") {
            container["workingDir"] = json!(&spec.workdir);
        }
        self.pod(order, container, json!({}))
    }

    /// A Pod without limits: neither load generator nor backend may limit a contender. What it
    /// writes is in a separate volume: images of this program have no folder for it.
    pub(crate) fn unlimited(&self, order: &PodOrder<'_>, command: &[String]) -> Pod {
        let container = json!({
            "command": command,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
            "volumeMounts": [{"name": "scratch", "mountPath": SCRATCH}],
        });
        let volumes = json!([{"name": "scratch", "emptyDir": {}}]);
        self.pod(order, container, json!({"volumes": volumes}))
    }

    /// A Pod that reads the cgroup files of its node.
    pub(crate) fn meter(&self, order: &PodOrder<'_>) -> Pod {
        let container = json!({
            "command": [PROGRAM],
            "args": ["pause"],
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
            "volumeMounts": [{
                "name": "cgroup", "mountPath": CGROUP_MOUNT, "readOnly": true,
                "recursiveReadOnly": "IfPossible",
            }],
        });
        let host = json!({"path": "/sys/fs/cgroup", "type": "Directory"});
        self.pod(
            order,
            container,
            json!({
                // Processes of containers, by the numbers that its cgroup files list.
                "hostPID": true,
                "volumes": [{"name": "cgroup", "hostPath": host}],
            }),
        )
    }

    /// A Pod that describes its node and the load of its cores.
    pub(crate) fn unprivileged_meter(&self, order: &PodOrder<'_>) -> Pod {
        let container = json!({
            "command": [PROGRAM],
            "args": ["pause"],
            "resources": {"requests": {"cpu": "10m", "memory": "16Mi"}},
        });
        self.pod(order, container, json!({}))
    }

    /// The Pods that send the load: one for each part, spread over the nodes.
    pub(crate) fn load_pods(&self, order: &PodOrder<'_>, count: u32) -> Job {
        let pod = self.unlimited(order, &[PROGRAM, "pause"].map(str::to_owned));
        let mut spec = serde_json::to_value(pod.spec).expect("a Pod is JSON");
        spec["topologySpreadConstraints"] = json!([{
            "maxSkew": 1,
            "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway",
            "labelSelector": {"matchLabels": {"batch.kubernetes.io/job-name": order.name}},
        }]);
        let job = json!({
            "metadata": {"name": order.name, "labels": self.labels_of(order)},
            "spec": {
                "completionMode": "Indexed",
                "completions": count,
                "parallelism": count,
                "backoffLimit": LOST_MAX,
                "template": {"metadata": {"labels": self.labels_of(order)}, "spec": spec},
            },
        });
        serde_json::from_value(job).expect("what is written above is a Job")
    }

    fn labels_of(&self, order: &PodOrder<'_>) -> BTreeMap<String, String> {
        let mut labels = self.labels.clone();
        labels.insert("bakeoff.part".to_owned(), order.part.to_owned());
        labels
    }

    fn pod(&self, order: &PodOrder<'_>, mut container: Value, mut spec: Value) -> Pod {
        container["name"] = json!(order.part);
        container["image"] = json!(order.image.reference);
        container["imagePullPolicy"] = json!(order.image.pull.policy());
        container["securityContext"] = confined();
        spec["containers"] = json!([container]);
        if let Some(image) = order.meter {
            // It starts before the other container and goes after it, and the Pod ends without it.
            spec["initContainers"] = json!([sidecar(image)]);
            spec["shareProcessNamespace"] = json!(true);
        }
        spec["restartPolicy"] = json!("Never");
        spec["automountServiceAccountToken"] = json!(false);
        spec["enableServiceLinks"] = json!(false);
        spec["affinity"] = json!({"nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{
                "matchExpressions": [
                    {"key": "kubernetes.io/hostname", "operator": "In", "values": order.nodes},
                ],
            }]},
        }});
        spec["securityContext"] = json!({
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        });
        let pod = json!({
            "metadata": {"name": order.name, "labels": self.labels_of(order)},
            "spec": spec,
        });
        serde_json::from_value(pod).expect("what is written above is a Pod")
    }
}

/// A container that meters the other one: its limits keep the Pod Guaranteed.
fn sidecar(image: &NodeImage) -> Value {
    let resources = json!({"cpu": "100m", "memory": "64Mi"});
    json!({
        "name": METER,
        "image": image.reference,
        "imagePullPolicy": image.pull.policy(),
        "command": [PROGRAM, "pause"],
        "restartPolicy": "Always",
        "resources": {"requests": &resources, "limits": &resources},
        "securityContext": confined(),
    })
}

fn confined() -> Value {
    json!({"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}})
}

fn env(variables: &BTreeMap<String, String>) -> Value {
    let one = |(name, value): (&String, &String)| json!({"name": name, "value": literal(value)});
    variables.iter().map(one).collect()
}

/// Kubernetes would replace `$(NAME)` in values.
fn literal(value: &str) -> String {
    value.replace("$(", "$$(")
}

/// The limits as quantities; whole thousandths of a core.
fn limits(limits: &Limits) -> BTreeMap<&'static str, String> {
    let cpu = limits
        .cpus
        .map(|cpus| ("cpu", format!("{:.0}m", cpus * 1e3)));
    let memory = limits
        .memory_bytes
        .map(|bytes| ("memory", bytes.to_string()));
    cpu.into_iter().chain(memory).collect()
}

/// A name that Kubernetes takes: lower-case letters, digits and dashes, at most 40.
pub(crate) fn pod_name(prefix: &str, label: &str, number: u64) -> String {
    let plain: String = label
        .to_ascii_lowercase()
        .chars()
        .map(|letter| {
            if letter.is_ascii_alphanumeric() {
                letter
            } else {
                '-'
            }
        })
        .take(40)
        .collect();
    format!("{prefix}{}-{number}", plain.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::Duration;

    use bakeoff_model::suite::Limits;
    use serde_json::json;

    use super::{Common, PodOrder, pod_name};
    use crate::api::{ContainerOptions, StartSpec};
    use crate::kubernetes::pods::node_image::NodeImage;

    #[test]
    fn a_contender_is_guaranteed_and_restricted() {
        let common = Common {
            labels: BTreeMap::new(),
            allocatable_cpus: 2.0,
        };
        let spec = StartSpec {
            label: "a".to_owned(),
            command: vec!["/app/a".to_owned()],
            env: [("X".to_owned(), "$(Y)".to_owned())].into(),
            arguments: Vec::new(),
            workdir: PathBuf::from("/app"),
            limits: Limits {
                cpus: Some(1.5),
                memory_bytes: Some(1 << 29),
            },
            cores: Vec::new(),
            port: 9000,
            ready_path: "/".to_owned(),
            start_timeout: Duration::ZERO,
            image: None,
            service: None,
            container: ContainerOptions::default(),
            wire: crate::Wire::default(),
            log_path: PathBuf::new(),
        };
        let image = NodeImage::loaded("i".to_owned());
        let order = PodOrder {
            name: "c-a-1",
            part: "contender",
            image: &image,
            nodes: &["n1"],
            meter: Some(&image),
        };
        let pod = serde_json::to_value(common.contender(&order, &spec)).unwrap();
        let limits = json!({"cpu": "1500m", "memory": "536870912"});
        let container = &pod["spec"]["containers"][0];
        assert_eq!(
            container["resources"],
            json!({"limits": limits, "requests": limits})
        );
        assert_eq!(container["env"], json!([{"name": "X", "value": "$$(Y)"}]));
        assert_eq!(
            container["securityContext"]["capabilities"],
            json!({"drop": ["ALL"]})
        );
        assert_eq!(pod["spec"]["securityContext"]["runAsNonRoot"], json!(true));
        assert_eq!(container["imagePullPolicy"], json!("Never"));
        let in_turns = StartSpec {
            container: ContainerOptions {
                takes_turns: true,
                ..ContainerOptions::default()
            },
            ..spec
        };
        let in_turns = serde_json::to_value(common.contender(&order, &in_turns)).unwrap();
        let requests = json!({"cpu": "100m", "memory": "536870912"});
        assert_eq!(
            in_turns["spec"]["containers"][0]["resources"],
            json!({"limits": limits, "requests": requests})
        );
        let sidecar = &pod["spec"]["initContainers"][0];
        let resources = &sidecar["resources"];
        assert_eq!(resources["limits"], resources["requests"]);
        assert_eq!(sidecar["securityContext"], container["securityContext"]);
    }

    #[test]
    fn load_generators_are_an_indexed_job() {
        let common = Common {
            labels: BTreeMap::new(),
            allocatable_cpus: 1.0,
        };
        let image = NodeImage::loaded("i".to_owned());
        let order = PodOrder {
            name: "generator",
            part: "generator",
            image: &image,
            nodes: &["n1", "n2"],
            meter: None,
        };
        let job = serde_json::to_value(common.load_pods(&order, 3)).unwrap();
        assert_eq!(job["spec"]["completions"], json!(3));
        assert_eq!(job["spec"]["completionMode"], json!("Indexed"));
    }

    #[test]
    fn names_fit_the_cluster() {
        assert_eq!(
            pod_name("c-", "http4k-3/Apache 4", 7),
            "c-http4k-3-apache-4-7"
        );
    }
}
