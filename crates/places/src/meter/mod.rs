//! Costs of a process group up to now, from its cgroup and from /proc.
//!
//! Used alike for contenders, containers, backends and the load generator. It measures; what the
//! differences of two samples mean is the report's business.

mod figures;
mod files;
pub mod gc_log;
pub mod jvm;
mod members;
mod netstat;
mod threads;

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use bakeoff_model::load::{CpuCounter, CpuTime};
use bakeoff_model::measure::resource::{Network, ResourceSample, TcpCounters};

use crate::cgroup::{Group, Version, dir_of, membership, mounts};
use crate::meter::files::GroupFiles;
use crate::meter::jvm::JvmFiles;
use crate::meter::members::Members;
use crate::ready::monotonic_ns;

pub(crate) use crate::meter::members::{Stat, TICK_NS, all_processes, tree};

/// Reads the metrics of one process group; its files stay open between samples.
///
/// Reading does not touch the group's processes: the kernel reads its own counters, and the JVM's
/// from a file that the JVM keeps up to date anyway.
#[derive(Debug)]
pub struct Meter {
    files: Option<GroupFiles>,
    /// The file with the CPU time of the group.
    counter: Option<PathBuf>,
    members: Members,
    state: Mutex<State>,
}

/// The state from sample to sample.
#[derive(Debug, Default)]
struct State {
    /// The user and system time given last: the kernel's split of the exact total is an estimate
    /// that may step back, a counter may not.
    cpu: CpuTime,
    /// Highest memory use seen, for hosts that do not keep it.
    peak_bytes: u64,
    jvm: JvmFiles,
}

impl Meter {
    /// The meter of the cgroup in which this process is, wherever that cgroup is mounted; for a
    /// container, the process number of its main process as the host sees it. Falls back to the
    /// process and its descendants if the process has no separate group.
    #[must_use]
    pub fn of_pid(pid: u32) -> Self {
        let read = |path: String| std::fs::read_to_string(path).unwrap_or_default();
        let theirs = membership(&read(format!("/proc/{pid}/cgroup")));
        let own = membership(&read("/proc/self/cgroup".to_owned()));
        let mut dirs: Vec<(String, PathBuf)> = Vec::new();
        let mut version = Version::V1;
        for mount in mounts(&read("/proc/self/mountinfo".to_owned())) {
            let Some(dir) = dir_of(&mount, &theirs).filter(|dir| dir.is_dir()) else {
                continue;
            };
            if dir_of(&mount, &own).as_ref() == Some(&dir) {
                continue;
            }
            if mount.unified && dir.join("memory.current").exists() {
                version = Version::V2;
                dirs = ["cpu", "memory", "unified"]
                    .map(|name| (name.to_owned(), dir.clone()))
                    .into();
                break;
            }
            let unified = mount.unified.then(|| "unified".to_owned());
            let names = mount.controllers.iter().filter(|_| !mount.unified).cloned();
            dirs.extend(names.chain(unified).map(|name| (name, dir.clone())));
        }
        let whole = ["cpu", "memory"]
            .iter()
            .all(|name| dirs.iter().any(|(have, _)| have == name));
        if whole {
            Self::of_dirs(version, &dirs)
        } else {
            Self::of_tree(pid)
        }
    }

    /// The meter of a process and its descendants, with what /proc says about them: no peak but
    /// the one sampled, no throttling, CPU time in the kernel's ticks of 10 ms.
    #[must_use]
    pub fn of_tree(pid: u32) -> Self {
        Self {
            files: None,
            counter: None,
            members: Members::Tree(pid),
            state: Mutex::default(),
        }
    }

    /// The meter of a group of ours.
    pub(crate) fn of_group(group: &Group) -> Self {
        Self::of_dirs(group.version(), group.dirs())
    }

    pub(crate) fn of_dirs(version: Version, dirs: &[(String, PathBuf)]) -> Self {
        let files = GroupFiles::open(version, dirs);
        let members = Members::of_dirs(dirs);
        Self {
            files: Some(files),
            counter: counter_file(version, dirs),
            members,
            state: Mutex::default(),
        }
    }

    /// The live processes of the group, as the host numbers them.
    #[must_use]
    pub fn processes(&self) -> Vec<u32> {
        self.members.list()
    }

    /// Where the CPU time of the group can be read without this meter: in its control group, or by
    /// the clocks of the processes that it has now.
    #[must_use]
    pub fn cpu_counter(&self) -> CpuCounter {
        match &self.counter {
            Some(file) => CpuCounter::File(file.clone()),
            None => CpuCounter::Processes(self.processes()),
        }
    }

    /// Returns how many processes of the group the kernel killed for memory; `None` if unknown.
    #[must_use]
    pub fn oom_kills(&self) -> Option<u64> {
        self.files.as_ref()?.oom_kills()
    }

    /// Reads all metrics now. Blocking, some hundred microseconds for a group of few threads, a few
    /// milliseconds for one of hundreds; a metric that the host cannot give is absent.
    #[must_use]
    pub fn sample(&self) -> ResourceSample {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        // The counters that are divided by the length of an interval come first, close to the
        // time stamp; the slow listing of threads comes after.
        let mut sample = ResourceSample {
            at_ns: monotonic_ns(),
            ..ResourceSample::default()
        };
        let processes;
        if let Some(files) = &self.files {
            sample.cpu = files.cpu().map(|raw| figures::monotone(raw, state.cpu));
            sample.throttling = files.throttling();
            sample.memory = files.memory();
            sample.pressure = files.pressure();
            processes = self.members.list();
        } else {
            processes = self.members.list();
            let tree = members::tree_figures(&processes);
            sample.cpu = tree.map(|(cpu, _)| figures::not_before(cpu, state.cpu));
            sample.memory = tree.map(|(_, memory)| memory);
        }
        if let Some(cpu) = sample.cpu {
            state.cpu = cpu;
        }
        if let Some(memory) = &mut sample.memory {
            state.peak_bytes = state
                .peak_bytes
                .max(memory.now_bytes)
                .max(memory.peak_bytes);
            memory.peak_bytes = state.peak_bytes;
        }
        let (threads, switches) = threads::read(&processes);
        sample.threads = threads;
        sample.context_switches = switches;
        sample.network = processes.first().and_then(|pid| network(*pid));
        let first = processes.first().map(ToString::to_string);
        sample.tcp = first.and_then(|pid| netstat::read(&pid));
        sample.jvm = state.jvm.read(&processes);
        sample
    }
}

/// The file with the CPU time of a group, if it is there.
fn counter_file(version: Version, dirs: &[(String, PathBuf)]) -> Option<PathBuf> {
    let (controller, file) = match version {
        Version::V1 => ("cpuacct", "cpuacct.usage"),
        Version::V2 => ("cpu", "cpu.stat"),
    };
    let (_, dir) = dirs.iter().find(|(name, _)| name == controller)?;
    Some(dir.join(file)).filter(|path| path.exists())
}

/// Reads all metrics of the group in which a process is, once. For repeated samples keep a
/// [`Meter`]: its files stay open and its counters never step back.
#[must_use]
pub fn sample_group(pid: u32) -> ResourceSample {
    Meter::of_pid(pid).sample()
}

/// Returns the TCP counters so far of this process's network namespace; `None` if they cannot be
/// read.
#[must_use]
pub fn own_tcp() -> Option<TcpCounters> {
    netstat::read("self")
}

/// Traffic in a process's network namespace, if that is not this process's own.
fn network(pid: u32) -> Option<Network> {
    let theirs = std::fs::read_link(format!("/proc/{pid}/ns/net")).ok()?;
    let own = std::fs::read_link("/proc/self/ns/net").ok()?;
    if theirs == own {
        return None;
    }
    let text = std::fs::read_to_string(format!("/proc/{pid}/net/dev")).ok()?;
    Some(figures::network(&text))
}
