//! The meter as a sidecar: it shares the processes of the container that it meters, and through
//! them the files that this one has mounted, its own cgroup among them. Needs no authority: both
//! are the same user, without capabilities.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use crate::container_start::is_prepared;
use crate::meter::{Meter, Stat, TICK_NS, all_processes};
use crate::ready::monotonic_ns;
use crate::remote::watch::{Begun, POLL, meter_in};

/// The process that holds the Pod's network and processes.
const HOLDER: u32 = 1;

/// Waits for the program of the other container.
pub(super) fn await_program(deadline: Instant) -> Option<Begun> {
    let taken_ns = Stat::of(HOLDER).map_or_else(monotonic_ns, |holder| started_ns(&holder));
    let mut before_ns = None;
    while Instant::now() < deadline {
        let now_ns = monotonic_ns();
        if let Some((pid, stat)) = neighbour() {
            return Some(Begun {
                pid,
                taken_ns,
                // One that was there first had started by then: its process is a little older.
                at_ns: before_ns.unwrap_or_else(|| started_ns(&stat)),
            });
        }
        before_ns = Some(now_ns);
        thread::sleep(POLL);
    }
    None
}

/// The meter of the other container; `None` while it has no program.
pub(super) fn meter() -> Option<Meter> {
    let (pid, _) = neighbour()?;
    let root = PathBuf::from(format!("/proc/{pid}/root/sys/fs/cgroup"));
    let own = |hierarchy: &Path| hierarchy.is_dir().then(|| hierarchy.to_owned());
    Some(meter_in(&root, own).unwrap_or_else(|| Meter::of_tree(pid)))
}

/// The first process of the other container: neither the holder nor one of our own.
fn neighbour() -> Option<(u32, Stat)> {
    let groups = |pid: &str| fs::read_to_string(format!("/proc/{pid}/cgroup")).ok();
    let own = groups("self");
    let is_neighbour =
        |pid: &u32| *pid != HOLDER && is_prepared(*pid) && groups(&pid.to_string()) != own;
    let others = all_processes().into_iter().filter(is_neighbour);
    let others = others.filter_map(|pid| Some((pid, Stat::of(pid)?)));
    others.min_by_key(|(_, stat)| stat.start_ticks)
}

fn started_ns(process: &Stat) -> u64 {
    process.start_ticks.saturating_mul(TICK_NS)
}
