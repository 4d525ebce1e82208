//! The contents of a Deployment: the image of one of its containers, and what that container is
//! given. The Deployment is read and never changed.

use std::collections::BTreeMap;

use bakeoff_model::suite::Limits;
use bakeoff_model::text::deployment_name::DeploymentName;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Container, EnvVar, PodSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::kubernetes::cluster::connection::Cluster;
use crate::kubernetes::cluster::error::ClusterError;
use crate::kubernetes::cluster::quantity::{bytes, cores};

/// A container of a Deployment, as far as a copy of it can have the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Deployed {
    /// The container's image, as nodes pull it.
    pub image: String,
    /// Replaces the image's entry point; empty for its own.
    pub entrypoint: Vec<String>,
    /// Replace the arguments of the entry point; empty for its own.
    pub arguments: Vec<String>,
    /// Variables that are written down in the Deployment or in a ConfigMap.
    pub env: BTreeMap<String, String>,
    /// Variables whose values are in a Secret, which is not read, with its name.
    pub secrets: BTreeMap<String, String>,
    /// The container's limits.
    pub limits: Limits,
    /// The port of the container's readiness probe, or else its first port.
    pub port: Option<u16>,
    /// The differences of a copy, a sentence each.
    pub notes: Vec<String>,
}

impl Cluster {
    /// Reads a Deployment, and the ConfigMaps that give it variables. Secrets are not read.
    ///
    /// # Errors
    /// It is not there, may not be read, or it is not said which of several containers is meant.
    pub async fn deployed(&self, of: &DeploymentName) -> Result<Deployed, ClusterError> {
        let what = format!("read the Deployment {of}");
        let found = self.deployments(&of.namespace).get(&of.name).await;
        let found = found.map_err(|error| refused(&what, &error))?;
        let pod = pod(found)
            .ok_or_else(|| ClusterError::new(format!("the Deployment {of} has no Pods")))?;
        let container = container(&pod, of)?;
        let mut maps = BTreeMap::new();
        for name in config_maps(container) {
            let map = self.config_maps(&of.namespace).get_opt(&name).await;
            let map = map.map_err(|error| {
                refused(
                    &format!("read the ConfigMap {}/{name}", of.namespace),
                    &error,
                )
            })?;
            maps.insert(name, data(map));
        }
        Ok(read(&pod, container, &maps))
    }
}

fn refused(what: &str, error: &kube::Error) -> ClusterError {
    match error {
        kube::Error::Api(status) if status.code == 403 => ClusterError::without_hint(what, error)
            .with_hint(
                "this user must be allowed to `get` deployments and configmaps in that namespace",
            ),
        _ => ClusterError::of(what, error),
    }
}

fn pod(deployment: Deployment) -> Option<PodSpec> {
    deployment.spec?.template.spec
}

/// Text values; binary ones can be no variables.
fn data(map: Option<ConfigMap>) -> BTreeMap<String, String> {
    map.and_then(|map| map.data).unwrap_or_default()
}

/// The container that is named, or the only one.
fn container<'p>(pod: &'p PodSpec, of: &DeploymentName) -> Result<&'p Container, ClusterError> {
    let names = pod.containers.iter().map(|one| one.name.as_str());
    let names: Vec<&str> = names.collect();
    let found = match (&of.container, pod.containers.as_slice()) {
        (None, [only]) => Some(only),
        (None, _) => {
            return Err(ClusterError::new(format!(
                "the Deployment {of} has {} containers",
                names.len()
            ))
            .with_hint(format!(
                "name one of them, as in deployment:{of}/{}: {}",
                names.first().unwrap_or(&"app"),
                names.join(", ")
            )));
        }
        (Some(name), all) => all.iter().find(|one| one.name == *name),
    };
    found.ok_or_else(|| {
        ClusterError::new(format!("the Deployment {of}: it has no such container"))
            .with_hint(format!("it has {}", names.join(", ")))
    })
}

/// The ConfigMaps that give a container variables.
fn config_maps(container: &Container) -> Vec<String> {
    let whole = container.env_from.iter().flatten();
    let whole = whole.filter_map(|source| Some(source.config_map_ref.as_ref()?.name.clone()));
    let single = container.env.iter().flatten();
    let single = single.filter_map(|variable| {
        let source = variable.value_from.as_ref()?;
        Some(source.config_map_key_ref.as_ref()?.name.clone())
    });
    let mut all: Vec<String> = whole.chain(single).collect();
    all.sort();
    all.dedup();
    all
}

fn read(
    pod: &PodSpec,
    container: &Container,
    maps: &BTreeMap<String, BTreeMap<String, String>>,
) -> Deployed {
    let mut deployed = Deployed {
        image: container.image.clone().unwrap_or_default(),
        entrypoint: container.command.clone().unwrap_or_default(),
        arguments: container.args.clone().unwrap_or_default(),
        limits: limits(container),
        port: port(container),
        ..Deployed::default()
    };
    let mut variables = Variables {
        deployed: &mut deployed,
        maps,
    };
    variables.of_sources(container);
    for variable in container.env.iter().flatten() {
        variables.one(variable);
    }
    deployed.notes.extend(lacking(pod, container));
    deployed
}

/// The environment of a container, as a kubelet makes it: whole maps first, then each variable.
struct Variables<'v> {
    deployed: &'v mut Deployed,
    maps: &'v BTreeMap<String, BTreeMap<String, String>>,
}

impl Variables<'_> {
    fn of_sources(&mut self, container: &Container) {
        for source in container.env_from.iter().flatten() {
            let prefix = source.prefix.as_deref().unwrap_or_default();
            if let Some(map) = &source.config_map_ref {
                for (name, value) in self.maps.get(&map.name).into_iter().flatten() {
                    let name = format!("{prefix}{name}");
                    self.deployed.env.insert(name, value.clone());
                }
            }
            if let Some(secret) = &source.secret_ref {
                self.deployed.notes.push(format!(
                    "the variables of the Secret {} are not read; --env gives those that the \
                     service needs",
                    secret.name
                ));
            }
        }
    }

    fn one(&mut self, variable: &EnvVar) {
        let name = variable.name.clone();
        let Some(source) = &variable.value_from else {
            let text = variable.value.as_deref().unwrap_or_default();
            let value = expanded(text, &self.deployed.env);
            self.deployed.env.insert(name, value);
            return;
        };
        if let Some(key) = &source.secret_key_ref {
            self.deployed.secrets.insert(name, key.name.clone());
        } else if let Some(key) = &source.config_map_key_ref {
            let map = self.maps.get(&key.name);
            match map.and_then(|map| map.get(&key.key)) {
                Some(value) => {
                    self.deployed.env.insert(name, value.clone());
                }
                None => self.deployed.notes.push(format!(
                    "{name} is not set: the ConfigMap {} has no {}",
                    key.name, key.key
                )),
            }
        } else {
            self.deployed.notes.push(format!(
                "{name} is not set: it is a property of the Pod, which differs in a copy; \
                 --env {name}=VALUE sets it"
            ));
        }
    }
}

/// A value in which `$(NAME)` stands for variables that are known; `$$` stands for `$`.
fn expanded(text: &str, known: &BTreeMap<String, String>) -> String {
    let mut value = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        value.push_str(before);
        let reference = after
            .strip_prefix('(')
            .and_then(|inner| inner.split_once(')'));
        if let Some(escaped) = after.strip_prefix('$') {
            value.push('$');
            rest = escaped;
        } else if let Some((found, behind)) =
            reference.and_then(|(name, behind)| Some((known.get(name)?, behind)))
        {
            value.push_str(found);
            rest = behind;
        } else {
            value.push('$');
            rest = after;
        }
    }
    value + rest
}

fn limits(container: &Container) -> Limits {
    let limits = container.resources.as_ref();
    let limits = limits.and_then(|resources| resources.limits.as_ref());
    let limit = |name: &str| limits.and_then(|all| Some(all.get(name)?.0.as_str()));
    Limits {
        cpus: limit("cpu").and_then(cores),
        memory_bytes: limit("memory").and_then(bytes),
    }
}

/// The port of the readiness probe, or else the first one.
fn port(container: &Container) -> Option<u16> {
    let ports = container.ports.as_deref().unwrap_or_default();
    let probe = container.readiness_probe.as_ref();
    let probed = probe.and_then(|probe| probe.http_get.as_ref());
    let number = match probed.map(|probed| &probed.port) {
        Some(IntOrString::Int(number)) => Some(*number),
        Some(IntOrString::String(name)) => ports
            .iter()
            .find(|port| port.name.as_ref() == Some(name))
            .map(|port| port.container_port),
        None => ports.first().map(|port| port.container_port),
    };
    number.and_then(|number| u16::try_from(number).ok())
}

/// Returns the other parts of a Pod of it, which a copy lacks, a note each.
fn lacking(pod: &PodSpec, container: &Container) -> Vec<String> {
    let mut notes = Vec::new();
    let mut note = |what: &str, names: Vec<&str>| {
        if !names.is_empty() {
            notes.push(format!("a copy lacks {what} {}", names.join(", ")));
        }
    };
    let beside = pod
        .containers
        .iter()
        .filter(|one| one.name != container.name);
    note(
        "the container",
        beside.map(|one| one.name.as_str()).collect(),
    );
    let before = pod.init_containers.iter().flatten();
    note(
        "the init container",
        before.map(|one| one.name.as_str()).collect(),
    );
    let mounts = container.volume_mounts.iter().flatten();
    note(
        "the volume at",
        mounts.map(|one| one.mount_path.as_str()).collect(),
    );
    let pulled = pod.image_pull_secrets.iter().flatten();
    note(
        "the pull secret",
        pulled.map(|one| one.name.as_str()).collect(),
    );
    notes
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use bakeoff_base::problem::Problem;
    use bakeoff_model::suite::Limits;
    use k8s_openapi::api::apps::v1::Deployment;
    use serde_json::json;

    use super::{Deployed, DeploymentName, config_maps, container, expanded, pod, read};
    use crate::kubernetes::cluster::mocked::{cluster, status};

    fn name(text: &str) -> DeploymentName {
        text.parse().unwrap()
    }

    fn texts(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn deployment() -> Deployment {
        let pod = json!({
            "initContainers": [{"name": "migrate", "image": "shop:1.5"}],
            "imagePullSecrets": [{"name": "registry"}],
            "containers": [
                {
                    "name": "app",
                    "image": "shop:1.5",
                    "command": ["/bin/shop"],
                    "args": ["--workers", "2"],
                    "envFrom": [
                        {"prefix": "SHOP_", "configMapRef": {"name": "settings"}},
                        {"secretRef": {"name": "keys"}},
                    ],
                    "env": [
                        {"name": "HOST", "value": "db"},
                        {"name": "URL", "value": "http://$(HOST):1/$(NONE)$$(HOST)"},
                        {"name": "MODE", "valueFrom":
                            {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
                        {"name": "LEVEL", "valueFrom":
                            {"configMapKeyRef": {"name": "settings", "key": "level"}}},
                        {"name": "PASSWORD", "valueFrom":
                            {"secretKeyRef": {"name": "database", "key": "password"}}},
                        {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
                    ],
                    "ports": [
                        {"containerPort": 9000, "name": "metrics"},
                        {"containerPort": 8081, "name": "http"},
                    ],
                    "readinessProbe": {"httpGet": {"path": "/health", "port": "http"}},
                    "resources": {"limits": {"cpu": "1500m", "memory": "768Mi"}},
                    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
                },
                {"name": "proxy", "image": "proxy:1"},
            ],
        });
        let template = json!({"spec": pod});
        let spec = json!({"selector": {}, "template": template});
        serde_json::from_value(json!({"metadata": {"name": "web"}, "spec": spec})).unwrap()
    }

    #[test]
    fn what_a_copy_can_have_is_taken() {
        let pod = pod(deployment()).unwrap();
        let app = container(&pod, &name("shop/web/app")).unwrap();
        assert_eq!(config_maps(app), ["settings"]);
        let maps = BTreeMap::from([("settings".to_owned(), map(&[("mode", "fast")]))]);
        let expect = Deployed {
            image: "shop:1.5".to_owned(),
            entrypoint: texts(&["/bin/shop"]),
            arguments: texts(&["--workers", "2"]),
            env: map(&[
                ("SHOP_mode", "fast"),
                ("HOST", "db"),
                ("URL", "http://db:1/$(NONE)$(HOST)"),
                ("MODE", "fast"),
            ]),
            secrets: map(&[("PASSWORD", "database")]),
            limits: Limits {
                cpus: Some(1.5),
                memory_bytes: Some(768 << 20),
            },
            port: Some(8081),
            notes: texts(&[
                "the variables of the Secret keys are not read; --env gives those that the service \
                 needs",
                "LEVEL is not set: the ConfigMap settings has no level",
                "POD is not set: it is a property of the Pod, which differs in a copy; --env \
                 POD=VALUE sets it",
                "a copy lacks the container proxy",
                "a copy lacks the init container migrate",
                "a copy lacks the volume at /data",
                "a copy lacks the pull secret registry",
            ]),
        };
        assert_eq!(read(&pod, app, &maps), expect);
    }

    const WEB: &str = "/apis/apps/v1/namespaces/shop/deployments/web";
    const SETTINGS: &str = "/api/v1/namespaces/shop/configmaps/settings";

    #[tokio::test]
    async fn config_maps_are_read_and_secrets_are_not() {
        let cluster = cluster(&[
            (WEB, 200, || serde_json::to_value(deployment()).unwrap()),
            (
                SETTINGS,
                200,
                || json!({"metadata": {}, "data": {"level": "1"}}),
            ),
        ]);
        let deployed = cluster.deployed(&name("shop/web/app")).await.unwrap();
        assert_eq!(deployed.env["LEVEL"], "1");
        assert_eq!(deployed.env["SHOP_level"], "1");
        let error = cluster.deployed(&name("shop/api")).await.unwrap_err();
        let message = error.to_string();
        assert!(
            message.starts_with("cannot read the Deployment shop/api: "),
            "{message}"
        );
    }

    #[tokio::test]
    async fn a_config_map_that_may_not_be_read_is_a_sentence() {
        let cluster = cluster(&[
            (WEB, 200, || serde_json::to_value(deployment()).unwrap()),
            (SETTINGS, 403, || status(403, "forbidden")),
        ]);
        let error = cluster.deployed(&name("shop/web/app")).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot read the ConfigMap shop/settings: forbidden"
        );
        assert!(Problem::from(error).hints()[0].contains("`get` deployments and configmaps"));
    }

    #[test]
    fn one_of_several_containers_must_be_named() {
        let pod = pod(deployment()).unwrap();
        let error = container(&pod, &name("shop/web")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the Deployment shop/web has 2 containers"
        );
        assert_eq!(
            Problem::from(error).hints(),
            ["name one of them, as in deployment:shop/web/app: app, proxy"]
        );
        let error = container(&pod, &name("shop/web/none")).unwrap_err();
        assert_eq!(Problem::from(error).hints(), ["it has app, proxy"]);
    }

    #[test]
    fn names_and_references_are_read() {
        for wrong in ["", "web", "/web", "shop/", "a/b/c/d"] {
            assert!(wrong.parse::<DeploymentName>().is_err(), "{wrong}");
        }
        assert_eq!(name("shop/web/app").to_string(), "shop/web/app");
        let known = map(&[("A", "1")]);
        assert_eq!(expanded("$(A)$(B)$$(A)$", &known), "1$(B)$(A)$");
    }
}
