//! Sees when a container's program starts, and at which address, from /proc.
//!
//! An engine reports that a container runs some milliseconds after its program started; a native
//! service has responded by then. A start-up time measured from there would be too short.

use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::cgroup::mounts;
use crate::ready::monotonic_ns;

/// Distance of two looks.
const POLL: Duration = Duration::from_micros(200);

/// Names of the processes that prepare a container and then become its program.
const PREPARING: [&str; 4] = ["runc", "crun", "conmon", "exe"];

/// A container's program that has started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Executed {
    /// The container's process, as the host numbers it.
    pub(crate) pid: u32,
    /// Last moment at which it had not yet started, monotonic ns. The true one is one poll later at
    /// most: start-up times come out long by that, never short.
    pub(crate) at_ns: u64,
    /// The container's address, when it has a separate network.
    pub(crate) address: Option<Ipv4Addr>,
}

/// Waits until the program of a container starts. `None` when cancelled, after one last look.
/// Blocking.
pub(crate) fn await_execution(id: &str, give_up: &AtomicBool) -> Option<Executed> {
    let mountinfo = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    let groups = candidates(&mountinfo, id);
    let mut before_ns = monotonic_ns();
    loop {
        let last = give_up.load(Ordering::Relaxed);
        let now_ns = monotonic_ns();
        if let Some(pid) = groups.iter().find_map(|group| executed(group)) {
            return Some(Executed {
                pid,
                at_ns: before_ns,
                address: address(pid),
            });
        }
        if last {
            return None;
        }
        before_ns = now_ns;
        thread::sleep(POLL);
    }
}

/// Files that list the processes of a container, wherever an engine may put its group. One
/// hierarchy is enough.
fn candidates(mountinfo: &str, id: &str) -> Vec<PathBuf> {
    let mounts = mounts(mountinfo);
    let has = |name: &str| {
        mounts
            .iter()
            .find(move |mount| mount.controllers.iter().any(|have| have == name))
    };
    let mount = has("memory").or_else(|| has("cpu"));
    let Some(mount) = mount.or_else(|| mounts.iter().find(|mount| mount.unified)) else {
        return Vec::new();
    };
    [
        format!("docker/{id}"),
        format!("system.slice/docker-{id}.scope"),
        format!("machine.slice/libpod-{id}.scope"),
    ]
    .iter()
    .map(|group| mount.point.join(group).join("cgroup.procs"))
    .collect()
}

/// The process of the group that is past its preparation.
fn executed(processes: &Path) -> Option<u32> {
    let text = fs::read_to_string(processes).ok()?;
    let mut processes = text.lines().filter_map(|line| line.parse::<u32>().ok());
    processes.find(|pid| is_prepared(*pid))
}

/// Whether a process is past its preparation.
pub(crate) fn is_prepared(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm"))
        .is_ok_and(|name| !PREPARING.iter().any(|prefix| name.starts_with(prefix)))
}

/// Whether a process is in a group with the container's id: only then is it the process of
/// that number on this host.
pub(crate) fn is_of(pid: u32, id: &str) -> bool {
    fs::read_to_string(format!("/proc/{pid}/cgroup")).is_ok_and(|groups| groups.contains(id))
}

/// The address of a process's network; `None` for that of this process.
fn address(pid: u32) -> Option<Ipv4Addr> {
    let theirs = fs::read_link(format!("/proc/{pid}/ns/net")).ok()?;
    if theirs == fs::read_link("/proc/self/ns/net").ok()? {
        return None;
    }
    own_address(pid)
}

/// The address of a process that is known to have a separate network.
pub(crate) fn own_address(pid: u32) -> Option<Ipv4Addr> {
    let table = fs::read_to_string(format!("/proc/{pid}/net/fib_trie")).ok()?;
    local_addresses(&table)
        .into_iter()
        .find(|ip| !ip.is_loopback())
}

/// Own addresses in a routing table: each on a line before `/32 host LOCAL`.
fn local_addresses(table: &str) -> Vec<Ipv4Addr> {
    let mut found = Vec::new();
    let mut last: Option<Ipv4Addr> = None;
    for line in table.lines().map(str::trim) {
        if let Some(address) = line.strip_prefix("|-- ") {
            last = address.parse().ok();
        } else if line.starts_with("/32 host LOCAL") {
            found.extend(last);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::{candidates, local_addresses};

    #[test]
    fn addresses_come_from_the_routing_table() {
        let table = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n\
                     Local:\n        |-- 127.0.0.1\n           /32 host LOCAL\n\
                             |-- 172.18.0.0\n           /16 link UNICAST\n\
                             |-- 172.18.0.2\n           /32 host LOCAL\n";
        let expect = [Ipv4Addr::LOCALHOST, Ipv4Addr::new(172, 18, 0, 2)];
        assert_eq!(local_addresses(table), expect);
    }

    #[test]
    fn groups_are_sought_in_one_hierarchy() {
        let mountinfo = "1 2 0:3 / /cg/cpu rw - cgroup cgroup rw,cpu\n\
                         1 2 0:4 / /cg/memory rw - cgroup cgroup rw,memory\n\
                         1 2 0:5 / /cg/unified rw - cgroup2 cgroup2 rw\n";
        let found = candidates(mountinfo, "abc");
        assert_eq!(found.len(), 3);
        assert!(found[0].ends_with("cg/memory/docker/abc/cgroup.procs"));
        assert!(candidates("", "abc").is_empty());
    }
}
