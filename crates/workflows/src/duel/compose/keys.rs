//! The keys of a service: those that are taken, those that make no difference to a duel, and those
//! that no container here can have.

use std::env::consts::ARCH;

use bakeoff_import::scalar::as_text;
use serde_json::{Map, Value};

use crate::duel::compose::values::{asks, texts};

/// The keys of a service that are taken.
const TAKEN: [&str; 35] = [
    "build",
    "cap_add",
    "cap_drop",
    "command",
    "configs",
    "container_name",
    "depends_on",
    "dns",
    "dns_opt",
    "dns_search",
    "entrypoint",
    "env_file",
    "environment",
    "expose",
    "extra_hosts",
    "group_add",
    "healthcheck",
    "hostname",
    "image",
    "init",
    "links",
    "networks",
    "pids_limit",
    "ports",
    "read_only",
    "secrets",
    "security_opt",
    "shm_size",
    "stop_signal",
    "sysctls",
    "tmpfs",
    "ulimits",
    "user",
    "volumes",
    "working_dir",
];

/// The keys that do not affect its responses, or that the duel decides.
const WITHOUT_EFFECT: [&str; 36] = [
    "annotations",
    "attach",
    "blkio_config",
    "cpu_count",
    "cpu_percent",
    "cpu_period",
    "cpu_quota",
    "cpu_rt_period",
    "cpu_rt_runtime",
    "cpu_shares",
    "cpus",
    "cpuset",
    "deploy",
    "develop",
    "domainname",
    "label_file",
    "labels",
    "logging",
    "mac_address",
    "mem_limit",
    "mem_reservation",
    "mem_swappiness",
    "memswap_limit",
    "oom_kill_disable",
    "oom_score_adj",
    "profiles",
    "pull_policy",
    "pull_refresh_after",
    "restart",
    "scale",
    "stdin_open",
    "stop_grace_period",
    "storage_opt",
    "tty",
    "version",
    "volume_driver",
];

/// The keys that are refused unless they have one of these values, and why.
const REFUSED: [(&str, &[&str], &str); 20] = [
    (
        "cgroup",
        &["private"],
        "a container here has its own control groups",
    ),
    (
        "cgroup_parent",
        &[],
        "the control group of a container is metered where it is",
    ),
    ("credential_spec", &[], "it is for Windows"),
    (
        "device_cgroup_rules",
        &[],
        "a container here gets no devices",
    ),
    ("devices", &[], "a container here gets no devices"),
    (
        "external_links",
        &[],
        "containers that run already are not reached from here",
    ),
    ("gpus", &[], "a container here gets no devices"),
    (
        "ipc",
        &["none", "private", "shareable"],
        "contenders must not share memory",
    ),
    ("isolation", &["default"], "it is for Windows"),
    ("models", &[], "no model is started for it"),
    (
        "network_mode",
        &["bridge", "default"],
        "a container here is in the network of the session",
    ),
    (
        "pid",
        &[],
        "contenders must not see the processes of others",
    ),
    (
        "post_start",
        &[],
        "no commands are run in a container that has started",
    ),
    (
        "pre_stop",
        &[],
        "no commands are run in a container before it stops",
    ),
    (
        "privileged",
        &[],
        "a container here has no rights on its host",
    ),
    ("provider", &[], "it is not a container"),
    ("runtime", &["runc"], "the engine's usual runtime starts it"),
    (
        "userns_mode",
        &[],
        "a container here has the user namespace of its engine",
    ),
    ("uts", &[], "a container here has its own name"),
    (
        "volumes_from",
        &[],
        "its volumes would be those of another container",
    ),
];

/// Why a service cannot be started here, a fragment for each reason.
pub(super) fn refusals(service: &Map<String, Value>) -> Vec<String> {
    let asked = service.iter().filter(|(_, value)| asks(value));
    asked
        .filter_map(|(key, value)| refusal(key, value))
        .collect()
}

fn refusal(key: &str, value: &Value) -> Option<String> {
    let text = as_text(value).unwrap_or_default();
    if let Some((_, possible, why)) = REFUSED.iter().find(|(known, ..)| *known == key) {
        let value = match value {
            Value::String(text) => format!("`{key}: {text}`"),
            _ => format!("`{key}`"),
        };
        return (!possible.contains(&text.as_str())).then(|| format!("{value}: {why}"));
    }
    match key {
        "platform" => (!is_own(&text)).then(|| format!("`platform: {text}`: this host is {ARCH}")),
        "deploy" => {
            let devices = value.pointer("/resources/reservations/devices");
            let asked = devices.is_some_and(asks);
            asked.then(|| format!("`{key}`: a container here gets no devices"))
        }
        "security_opt" => {
            let all = texts(Some(value));
            let profile = all.iter().find(|one| {
                let rest = one
                    .strip_prefix("seccomp")
                    .map(|rest| &rest[1.min(rest.len())..]);
                rest.is_some_and(|rest| !["unconfined", "builtin"].contains(&rest))
            });
            profile.map(|profile| format!("`{key}`: the file of {profile} is not read"))
        }
        _ if TAKEN.contains(&key) || WITHOUT_EFFECT.contains(&key) => None,
        _ if key.starts_with("x-") => None,
        _ => Some(format!("`{key}`: a duel does not know it")),
    }
}

/// Whether this host runs programs of a platform, `linux/amd64`, as they are.
pub(super) fn is_own(platform: &str) -> bool {
    let own = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let mut parts = platform.split('/').filter(|part| *part != "linux");
    parts.next().is_none_or(|part| part == own || part == ARCH)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::refusals;

    #[test]
    fn what_a_container_here_cannot_have_is_refused_all_at_once() {
        let check = |service: Value, expect: &[&str]| {
            assert_eq!(refusals(service.as_object().unwrap()), expect, "{service}");
        };
        check(
            json!({"devices": ["/dev/a"], "privileged": true, "network_mode": "host", "new": 1}),
            &[
                "`devices`: a container here gets no devices",
                "`privileged`: a container here has no rights on its host",
                "`network_mode: host`: a container here is in the network of the session",
                "`new`: a duel does not know it",
            ],
        );
        check(
            json!({
                "devices": [], "privileged": false, "network_mode": "bridge", "pid": "",
                "x-own": 1, "restart": "always", "deploy": {"replicas": 2}, "user": "1",
                "security_opt": ["seccomp:unconfined", "no-new-privileges"], "ipc": "private"
            }),
            &[],
        );
        let gpu = json!({"resources": {"reservations": {"devices": [{"driver": "x"}]}}});
        check(
            json!({"deploy": gpu}),
            &["`deploy`: a container here gets no devices"],
        );
        check(
            json!({"security_opt": ["seccomp:./a.json"], "platform": "windows/amd64"}),
            &[
                "`security_opt`: the file of seccomp:./a.json is not read",
                &format!(
                    "`platform: windows/amd64`: this host is {}",
                    std::env::consts::ARCH
                ),
            ],
        );
    }
}
