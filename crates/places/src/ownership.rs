//! The owners of objects on an engine or in a cluster, which may serve several hosts: labels with
//! the session's process, by which a later session knows that this one is dead.

use std::collections::HashMap;
use std::fs;

use crate::host;
use crate::meter::Stat;

/// Label with the process number of the session.
pub(crate) const SESSION: &str = "bakeoff.session";

/// Label with the name of the session's host.
const HOST: &str = "bakeoff.host";

/// Label with the boot and the start of the session: process numbers are used again.
const START: &str = "bakeoff.start";

/// The labels of everything that this process makes. Their values are what Kubernetes takes:
/// letters, digits, dots, dashes and underscores, at most 63.
pub(crate) fn labels() -> HashMap<String, String> {
    let pid = std::process::id();
    [
        (SESSION, pid.to_string()),
        (HOST, host_label()),
        (START, start(pid)),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn host_label() -> String {
    let name: String = host::name().chars().take(63).collect();
    let is_outer = |letter: char| !letter.is_ascii_alphanumeric();
    name.trim_matches(is_outer).to_owned()
}

fn start(pid: u32) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let start = Stat::of(pid).map_or(0, |stat| stat.start_ticks);
    format!("{}-{start}", boot.trim())
}

/// Whether the session that left these labels is dead. Sessions of other hosts count as alive:
/// it is not known here.
pub(crate) fn is_dead(labels: &HashMap<String, String>) -> bool {
    let Some(pid) = labels.get(SESSION).and_then(|pid| pid.parse::<u32>().ok()) else {
        return false;
    };
    if labels.get(HOST) != Some(&host_label()) {
        return false;
    }
    let alive = Stat::of(pid).is_some_and(|stat| stat.state != 'Z');
    !alive || labels.get(START) != Some(&start(pid))
}

#[cfg(test)]
mod tests {
    use super::{HOST, SESSION, START, is_dead, labels};

    #[test]
    fn only_dead_sessions_of_this_host_are_dead() {
        let changed = |name: &str, value: &str| {
            let mut labels = labels();
            labels.insert(name.to_owned(), value.to_owned());
            is_dead(&labels)
        };
        assert!(!is_dead(&labels()));
        assert!(changed(SESSION, "4194999"));
        assert!(changed(START, "other-boot-1"));
        assert!(!changed(SESSION, "x"));
        let mut foreign = labels();
        foreign.insert(SESSION.to_owned(), "4194999".to_owned());
        foreign.insert(HOST.to_owned(), "elsewhere".to_owned());
        assert!(!is_dead(&foreign));
    }

    #[test]
    fn values_are_what_a_cluster_takes() {
        for (name, value) in labels() {
            let fits = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
            assert!(
                value.len() <= 63 && value.chars().all(fits),
                "{name}: {value}"
            );
        }
    }
}
