//! The state of a Pod, as a value. Pure.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use crate::api::ExitInfo;

/// Reasons of waiting that do not go away by waiting.
const HOPELESS: [&str; 7] = [
    "ErrImageNeverPull",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "CreateContainerConfigError",
    "CreateContainerError",
    "RunContainerError",
];

/// The state of a Pod.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PodState {
    /// The Pod is being scheduled or made; with the reason for a delay, if the cluster gives one.
    Pending(Option<String>),
    /// No node takes the Pod, and why.
    Unschedulable(String),
    /// The container runs.
    Running(Running),
    /// The container has exited.
    Ended(ContainerExit),
    /// The Pod will never run.
    Hopeless(String),
}

/// A container that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Running {
    /// The address of the Pod.
    pub(crate) address: String,
    /// The container's identity on its node.
    pub(crate) container: String,
    /// Digest of the container's image, if the node knows one.
    pub(crate) image: String,
}

/// A container that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ContainerExit {
    pub(crate) exit: ExitInfo,
    /// Why the cluster ended the container, if it did.
    pub(crate) why: Option<String>,
}

/// Returns the state of a Pod of one container, by the API.
pub(crate) fn state(pod: &Pod) -> PodState {
    let status = pod.status.clone().unwrap_or_default();
    let name = pod.metadata.name.clone().unwrap_or_default();
    let container = status.container_statuses.unwrap_or_default().pop();
    let evicted = status.reason.map(|reason| {
        let message = status.message.unwrap_or_default();
        format!("{reason} on node {}: {message}", node_of(pod))
    });
    let evicted = evicted.or_else(|| disrupted(pod));
    if let Some(ended) = container
        .as_ref()
        .and_then(|one| ended(one, evicted.clone()))
    {
        return PodState::Ended(ended);
    }
    if let ("Failed", why) = (status.phase.as_deref().unwrap_or_default(), evicted) {
        return PodState::Ended(ContainerExit {
            exit: ExitInfo::default(),
            why,
        });
    }
    if let Some((reason, message)) = container.as_ref().and_then(waiting) {
        return match HOPELESS.contains(&reason.as_str()) {
            true => PodState::Hopeless(format!("Pod {name}: {reason}: {message}")),
            false => PodState::Pending(Some(format!("{reason} {message}"))),
        };
    }
    match (container.filter(is_running), status.pod_ip) {
        (Some(container), Some(address)) => PodState::Running(Running {
            address,
            container: identity(container.container_id.as_deref().unwrap_or_default()),
            image: container.image_id,
        }),
        _ => match unschedulable(pod) {
            Some(why) => PodState::Unschedulable(why),
            None => PodState::Pending(None),
        },
    }
}

/// Whether the sidecar that meters a Pod runs.
pub(crate) fn has_meter(pod: &Pod) -> bool {
    let status = pod.status.as_ref();
    let sidecars = status.and_then(|status| status.init_container_statuses.as_ref());
    sidecars.is_some_and(|all| all.iter().any(is_running))
}

fn node_of(pod: &Pod) -> String {
    let node = pod.spec.as_ref().and_then(|spec| spec.node_name.clone());
    node.unwrap_or_default()
}

/// Returns why the cluster removes a Pod, if it does: an eviction, a lost node, a drain.
pub(crate) fn disrupted(pod: &Pod) -> Option<String> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let told = conditions
        .iter()
        .find(|one| one.type_ == "DisruptionTarget" && one.status == "True")?;
    let reason = told.reason.clone().unwrap_or_default();
    let message = told.message.clone().unwrap_or_default();
    Some(format!("{reason} on node {}: {message}", node_of(pod)))
}

fn is_running(container: &ContainerStatus) -> bool {
    let state = container.state.as_ref();
    state.is_some_and(|state| state.running.is_some())
}

fn waiting(container: &ContainerStatus) -> Option<(String, String)> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let message = waiting.message.clone().unwrap_or_default();
    Some((waiting.reason.clone()?, message))
}

fn ended(container: &ContainerStatus, evicted: Option<String>) -> Option<ContainerExit> {
    let ended = container.state.as_ref()?.terminated.as_ref()?;
    let oom_killed = ended.reason.as_deref() == Some("OOMKilled");
    let signal = (ended.exit_code > 128).then(|| ended.exit_code - 128);
    let exit = ExitInfo {
        code: signal.is_none().then_some(ended.exit_code),
        signal,
        oom_killed,
    };
    Some(ContainerExit { exit, why: evicted })
}

/// `containerd://ID` without what runs it.
fn identity(container: &str) -> String {
    let plain = container.split_once("://").map(|(_, plain)| plain);
    plain.unwrap_or(container).to_owned()
}

/// Why no node takes the Pod.
fn unschedulable(pod: &Pod) -> Option<String> {
    let conditions = pod.status.as_ref()?.conditions.as_ref()?;
    let scheduled = conditions.iter().find(|one| one.type_ == "PodScheduled")?;
    let refused = scheduled.status == "False";
    refused.then(|| scheduled.message.clone().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{PodState, state};

    fn read(status: &Value) -> PodState {
        let pod = json!({
            "metadata": {"name": "a"},
            "spec": {"containers": [], "nodeName": "n1"},
            "status": status,
        });
        state(&serde_json::from_value(pod).unwrap())
    }

    fn container(state: &Value) -> Value {
        json!([{
            "name": "a", "image": "i", "imageID": "sha256:1", "ready": true, "restartCount": 0,
            "containerID": "containerd://0123", "state": state,
        }])
    }

    #[test]
    fn what_a_pod_does_is_one_value() {
        let running = container(&json!({"running": {}}));
        let found = read(&json!({"podIP": "10.0.0.1", "containerStatuses": running}));
        let PodState::Running(running) = found else {
            panic!("{found:?}");
        };
        assert_eq!(running.address, "10.0.0.1");
        assert_eq!(running.container, "0123");
        assert_eq!(read(&json!({"phase": "Pending"})), PodState::Pending(None));
    }

    #[test]
    fn failures_are_sentences() {
        let waiting =
            container(&json!({"waiting": {"reason": "ErrImageNeverPull", "message": "no"}}));
        let expect = "Pod a: ErrImageNeverPull: no".to_owned();
        let found = read(&json!({"phase": "Pending", "containerStatuses": waiting}));
        assert_eq!(found, PodState::Hopeless(expect));

        let killed = container(&json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}}));
        let PodState::Ended(ended) = read(&json!({"containerStatuses": killed})) else {
            panic!("it has ended");
        };
        assert_eq!(
            ended.exit.to_string(),
            "was ended by signal 9, out of memory"
        );

        let evicted = json!({"phase": "Failed", "reason": "Evicted", "message": "low on memory"});
        let PodState::Ended(ended) = read(&evicted) else {
            panic!("it has ended");
        };
        assert_eq!(ended.why.unwrap(), "Evicted on node n1: low on memory");

        let drained = json!({
            "containerStatuses": container(&json!({"terminated": {"exitCode": 143}})),
            "conditions": [{
                "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
                "message": "Eviction API: evicting",
            }],
        });
        let PodState::Ended(ended) = read(&drained) else {
            panic!("it has ended");
        };
        let why = "EvictionByEvictionAPI on node n1: Eviction API: evicting";
        assert_eq!(ended.why.unwrap(), why);

        let full = json!({"conditions": [
            {"type": "PodScheduled", "status": "False", "message": "0/2 nodes are available"},
        ]});
        let why = "0/2 nodes are available".to_owned();
        assert_eq!(read(&full), PodState::Unschedulable(why));
    }
}
