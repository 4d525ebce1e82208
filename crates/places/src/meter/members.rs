//! The processes of a group, and the metrics that only /proc has.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use bakeoff_model::load::CpuTime;
use bakeoff_model::measure::resource::Memory;

/// Unit of CPU times in /proc: the kernel reports them at 100 Hz whatever its own tick is.
pub(crate) const TICK_NS: u64 = 10_000_000;

/// How the processes of a group are found.
#[derive(Debug)]
pub(crate) enum Members {
    /// The processes are listed in this file and those of the groups below.
    Listed(PathBuf),
    /// A process, its descendants and the processes that stayed in the session it leads.
    Tree(u32),
}

impl Members {
    /// The members of a group by one of its folders.
    pub(crate) fn of_dirs(dirs: &[(String, PathBuf)]) -> Self {
        let dir = dirs
            .iter()
            .find(|(name, _)| name == "memory")
            .or(dirs.first());
        Self::Listed(dir.map(|(_, dir)| dir.clone()).unwrap_or_default())
    }

    /// The live processes, ascending.
    pub(crate) fn list(&self) -> Vec<u32> {
        match self {
            Self::Listed(dir) => {
                let mut found = BTreeSet::new();
                collect(dir, &mut found, 0);
                found.into_iter().collect()
            }
            Self::Tree(root) => tree(*root),
        }
    }
}

/// Containers may make groups below theirs; deeper than this is not looked at.
const DEPTH_MAX: usize = 4;

fn collect(dir: &PathBuf, found: &mut BTreeSet<u32>, depth: usize) {
    let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    found.extend(
        text.lines()
            .filter_map(|line| line.parse::<u32>().ok())
            .filter(|pid| *pid > 0),
    );
    if depth == DEPTH_MAX {
        return;
    }
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            collect(&entry.path(), found, depth + 1);
        }
    }
}

/// The values of `/proc/PID/stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) state: char,
    pub(crate) parent: u32,
    pub(crate) session: u32,
    pub(crate) user_ticks: u64,
    pub(crate) system_ticks: u64,
    /// Start, in ticks since the boot: with the number it names a process uniquely.
    pub(crate) start_ticks: u64,
}

impl Stat {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        // The name is in parentheses and may itself hold spaces and parentheses.
        let (_, rest) = text.rsplit_once(") ")?;
        let fields: Vec<&str> = rest.split(' ').collect();
        let number = |index: usize| fields.get(index)?.trim().parse::<u64>().ok();
        let small = |index: usize| u32::try_from(number(index)?).ok();
        Some(Self {
            state: fields.first()?.chars().next()?,
            parent: small(1)?,
            session: small(3)?,
            user_ticks: number(11)?,
            system_ticks: number(12)?,
            start_ticks: number(19)?,
        })
    }

    pub(crate) fn of(pid: u32) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }
}

/// All processes of the host that can be seen.
pub(crate) fn all_processes() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// A live process, its descendants, and the processes that stayed in the session that it led.
pub(crate) fn tree(root: u32) -> Vec<u32> {
    let all: Vec<(u32, Stat)> = all_processes()
        .into_iter()
        .filter_map(|pid| Some((pid, Stat::of(pid)?)))
        .filter(|(_, stat)| stat.state != 'Z' && stat.state != 'X')
        .collect();
    let mut found: BTreeSet<u32> = BTreeSet::new();
    loop {
        let before = found.len();
        for (pid, stat) in &all {
            if *pid == root || stat.session == root || found.contains(&stat.parent) {
                found.insert(*pid);
            }
        }
        if found.len() == before {
            return found.into_iter().collect();
        }
    }
}

/// CPU time and memory of processes as /proc has them; `None` without any process.
pub(crate) fn tree_figures(processes: &[u32]) -> Option<(CpuTime, Memory)> {
    let mut cpu = CpuTime::default();
    let mut memory = Memory::default();
    let (mut anon, mut file, mut any) = (0, 0, false);
    for pid in processes {
        let Some(stat) = Stat::of(*pid) else { continue };
        let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else {
            continue;
        };
        any = true;
        cpu.user_ns += stat.user_ticks.saturating_mul(TICK_NS);
        cpu.system_ns += stat.system_ticks.saturating_mul(TICK_NS);
        memory.now_bytes += status_bytes(&status, "VmRSS:");
        anon += status_bytes(&status, "RssAnon:");
        file += status_bytes(&status, "RssFile:");
        // The peaks of several processes may lie at different times, so their sum would be too
        // high: one process' own peak is a safe lower bound.
        memory.peak_bytes = memory.peak_bytes.max(status_bytes(&status, "VmHWM:"));
    }
    memory.anon_bytes = Some(anon);
    memory.file_bytes = Some(file);
    any.then_some((cpu, memory))
}

fn status_bytes(status: &str, key: &str) -> u64 {
    status_number(status, key).unwrap_or(0).saturating_mul(1024)
}

/// The first number behind a key of `/proc/PID/status`.
pub(crate) fn status_number(status: &str, key: &str) -> Option<u64> {
    let rest = status.lines().find_map(|line| line.strip_prefix(key))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Members, Stat, tree_figures};

    #[test]
    fn a_name_with_parentheses_does_not_shift_the_fields() {
        let line = "7 (a) b (c) S 3 7 7 0 -1 4194304 1 2 3 4 50 60 0 0 20 0 1 0 9000 1 2";
        let stat = Stat::parse(line).unwrap();
        assert_eq!((stat.state, stat.parent, stat.session), ('S', 3, 7));
        assert_eq!(
            (stat.user_ticks, stat.system_ticks, stat.start_ticks),
            (50, 60, 9000)
        );
        assert_eq!(Stat::parse("7 (a"), None);
        assert_eq!(Stat::parse(""), None);
    }

    #[test]
    fn this_process_is_a_tree_with_memory() {
        let processes = Members::Tree(std::process::id()).list();
        assert!(processes.contains(&std::process::id()));
        let (_, memory) = tree_figures(&processes).unwrap();
        assert!(memory.now_bytes > 0 && memory.peak_bytes > 0);
        assert_eq!(tree_figures(&[]), None);
    }
}
