//! The Pods of a session. Pure. All but the meter keep to Pod Security "restricted".

use std::collections::BTreeMap;
use std::path::Path;

use bakeoff_model::suite::Limits;
use k8s_openapi::api::core::v1::Pod;
use serde_json::{Value, json};

use crate::api::StartSpec;

/// This program in its own image.
pub(super) const PROGRAM: &str = "/bakeoff";
/// The recordings in the same image.
pub(super) const RECORDINGS: &str = "/recordings";
/// Where a replay backend keeps its notes in its Pod.
pub(super) const REPLAY_FOLDER: &str = "/tmp";
/// Where a meter sees the cgroup files of its node.
pub(super) const CGROUP_MOUNT: &str = "/host/cgroup";
/// Who runs in Pods: nobody.
const USER: i64 = 65_534;

/// What the Pods of a session have in common.
#[derive(Debug, Clone)]
pub(super) struct Common {
    /// Labels of everything that is made.
    pub(super) labels: BTreeMap<String, String>,
    /// `Never` where images are loaded into the nodes.
    pub(super) pull: &'static str,
}

/// One Pod.
#[derive(Debug, Clone)]
pub(super) struct PodOrder<'a> {
    pub(super) name: &'a str,
    /// What it is to the session: `contender`, `backend`, `generator`, `meter`.
    pub(super) part: &'static str,
    pub(super) image: &'a str,
    pub(super) node: &'a str,
}

impl Common {
    /// A contender: requests and limits are the profile's, so that it is Guaranteed where both are
    /// given.
    pub(super) fn contender(&self, order: &PodOrder<'_>, spec: &StartSpec) -> Pod {
        let limits = limits(&spec.limits);
        let mut container = json!({
            "env": env(&spec.env),
            "resources": {"requests": &limits, "limits": &limits},
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

    /// This program at work in a Pod, without limits: neither load generator nor backend may be
    /// what holds a contender back.
    pub(super) fn program(&self, order: &PodOrder<'_>, arguments: &[String]) -> Pod {
        let container = json!({
            "command": [PROGRAM],
            "args": arguments,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}},
        });
        self.pod(order, container, json!({}))
    }

    /// A Pod that reads the cgroup files of its node.
    pub(super) fn meter(&self, order: &PodOrder<'_>) -> Pod {
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

    fn pod(&self, order: &PodOrder<'_>, mut container: Value, mut spec: Value) -> Pod {
        container["name"] = json!(order.part);
        container["image"] = json!(order.image);
        container["imagePullPolicy"] = json!(self.pull);
        container["securityContext"] = json!({
            "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]},
        });
        spec["containers"] = json!([container]);
        spec["restartPolicy"] = json!("Never");
        spec["automountServiceAccountToken"] = json!(false);
        spec["enableServiceLinks"] = json!(false);
        spec["nodeSelector"] = json!({"kubernetes.io/hostname": order.node});
        spec["securityContext"] = json!({
            "runAsNonRoot": true,
            "runAsUser": USER,
            "runAsGroup": USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        });
        let mut labels = self.labels.clone();
        labels.insert("bakeoff.part".to_owned(), order.part.to_owned());
        let pod = json!({
            "metadata": {"name": order.name, "labels": labels},
            "spec": spec,
        });
        serde_json::from_value(pod).expect("what is written above is a Pod")
    }
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
pub(super) fn pod_name(label: &str, number: u64) -> String {
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
    format!("c-{}-{number}", plain.trim_matches('-'))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::time::Duration;

    use bakeoff_model::suite::Limits;
    use serde_json::json;

    use super::{Common, PodOrder, pod_name};
    use crate::api::StartSpec;

    #[test]
    fn a_contender_is_guaranteed_and_restricted() {
        let common = Common {
            labels: BTreeMap::new(),
            pull: "Never",
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
            log_path: PathBuf::new(),
        };
        let order = PodOrder {
            name: "c-a-1",
            part: "contender",
            image: "i",
            node: "n1",
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
    }

    #[test]
    fn names_fit_the_cluster() {
        assert_eq!(pod_name("http4k-3/Apache 4", 7), "c-http4k-3-apache-4-7");
    }
}
