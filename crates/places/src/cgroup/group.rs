//! One group of ours: made with its limits, removed with everything in it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::Limits;

use crate::cgroup::QUOTA_PERIOD_US;
use crate::cgroup::hierarchy::{Hierarchy, UNIFIED, Version};
use crate::cgroup::removal::{kill_group_dir, remove_dir};

/// A group of ours. Dropping it kills what is in it and removes it.
#[derive(Debug)]
pub(crate) struct Group {
    version: Version,
    /// Controller -> folder of this group.
    dirs: Vec<(String, PathBuf)>,
    removed: bool,
}

impl Group {
    /// Makes the group with its limits, empty.
    ///
    /// # Errors
    /// A sentence that names the file that could not be made or written.
    pub(crate) fn make(
        hierarchy: &Hierarchy,
        name: &str,
        limits: Limits,
        cores: &[usize],
    ) -> Result<Self, Problem> {
        let mut group = Self {
            version: hierarchy.version,
            dirs: Vec::new(),
            removed: false,
        };
        for (controller, parent) in &hierarchy.parents {
            let dir = parent.join(name);
            let made = group.folders().any(|made| made == dir);
            match if made { Ok(()) } else { create_fresh(&dir) } {
                Ok(()) => group.dirs.push((controller.clone(), dir)),
                Err(_) if controller == UNIFIED => {}
                Err(error) => {
                    return Err(
                        format!("cannot make a group in {}: {error}", parent.display()).into(),
                    );
                }
            }
        }
        match group.version {
            Version::V1 => group.limit_v1(hierarchy, limits, cores)?,
            Version::V2 => group.limit_v2(limits, cores)?,
        }
        Ok(group)
    }

    /// Where processes enter the group: one file for each of its folders.
    pub(crate) fn entrances(&self) -> Vec<PathBuf> {
        self.folders().map(|dir| dir.join("cgroup.procs")).collect()
    }

    /// The folder of a controller.
    pub(crate) fn dir(&self, controller: &str) -> Option<&Path> {
        self.dirs
            .iter()
            .find(|(name, _)| name == controller)
            .map(|(_, dir)| dir.as_path())
    }

    /// The version.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Controllers with their folders.
    pub(crate) fn dirs(&self) -> &[(String, PathBuf)] {
        &self.dirs
    }

    fn folders(&self) -> impl Iterator<Item = &Path> {
        let mut seen: Vec<&Path> = Vec::new();
        for (_, dir) in &self.dirs {
            if !seen.contains(&dir.as_path()) {
                seen.push(dir);
            }
        }
        seen.into_iter()
    }

    fn limit_v1(
        &self,
        hierarchy: &Hierarchy,
        limits: Limits,
        cores: &[usize],
    ) -> Result<(), Problem> {
        // A new cpuset is empty, and nothing may enter an empty one.
        for file in ["cpuset.mems", "cpuset.cpus"] {
            let parent = hierarchy.parent("cpuset").map(|dir| dir.join(file));
            let inherited = parent.and_then(|path| fs::read_to_string(path).ok());
            let value = match (file, cores) {
                ("cpuset.cpus", [_, ..]) => list(cores),
                _ => inherited.unwrap_or_default().trim().to_owned(),
            };
            self.set("cpuset", file, &value)?;
        }
        if let Some(cpus) = limits.quota(cores.len()) {
            self.set("cpu", "cpu.cfs_period_us", &QUOTA_PERIOD_US.to_string())?;
            self.set("cpu", "cpu.cfs_quota_us", &quota_us(cpus).to_string())?;
        }
        // Socket buffers are counted only in groups that have a limit on them, so give it one
        // that nothing reaches. Kernels without that count do not have the file.
        let _ = self.set("memory", "memory.kmem.tcp.limit_in_bytes", "1099511627776");
        let Some(memory_bytes) = limits.memory_bytes else {
            return Ok(());
        };
        let value = memory_bytes.to_string();
        self.set("memory", "memory.limit_in_bytes", &value)?;
        let swap = self
            .dir("memory")
            .map(|dir| dir.join("memory.memsw.limit_in_bytes"));
        if swap.is_some_and(|path| path.exists()) {
            self.set("memory", "memory.memsw.limit_in_bytes", &value)
        } else {
            self.set("memory", "memory.swappiness", "0")
        }
    }

    fn limit_v2(&self, limits: Limits, cores: &[usize]) -> Result<(), Problem> {
        // Without a cpuset controller the shim's affinity mask confines the group to its cores.
        if !cores.is_empty() && self.dir("cpuset").is_some() {
            self.set("cpuset", "cpuset.cpus", &list(cores))?;
        }
        if let Some(cpus) = limits.quota(cores.len()) {
            let value = format!("{} {QUOTA_PERIOD_US}", quota_us(cpus));
            self.set("cpu", "cpu.max", &value)?;
        }
        if let Some(memory_bytes) = limits.memory_bytes {
            self.set("memory", "memory.max", &memory_bytes.to_string())?;
            // Kernels without swap accounting do not have the file; there is no swap then.
            let swap = self.dir("memory").map(|dir| dir.join("memory.swap.max"));
            if swap.is_some_and(|path| path.exists()) {
                self.set("memory", "memory.swap.max", "0")?;
            }
        }
        Ok(())
    }

    fn set(&self, controller: &str, file: &str, value: &str) -> Result<(), Problem> {
        let dir = self
            .dir(controller)
            .ok_or_else(|| format!("no controller {controller}"))?;
        let path = dir.join(file);
        fs::write(&path, value).map_err(|error| {
            format!("cannot write {value:?} to {}: {error}", path.display()).into()
        })
    }

    /// Kills everything in the group and removes it.
    ///
    /// # Errors
    /// A sentence that names the folder that stays.
    pub(crate) fn remove(&mut self) -> Result<(), Problem> {
        self.removed = true;
        for dir in self.folders().collect::<Vec<_>>().into_iter().rev() {
            kill_group_dir(dir);
        }
        let mut outcome = Ok(());
        for dir in self.folders() {
            if let Err(error) = remove_dir(dir) {
                outcome = Err(format!("cannot remove {}: {error}", dir.display()).into());
            }
        }
        outcome
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.removed {
            // Nothing more can be reported; the next sweep tries again.
            let _ = self.remove();
        }
    }
}

/// Makes a folder whose counters start at zero: one of that name was left by a dead session with
/// the same process number.
fn create_fresh(dir: &Path) -> io::Result<()> {
    match fs::create_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            remove_dir(dir)?;
            fs::create_dir(dir)
        }
        outcome => outcome,
    }
}

/// The quota of one period, us. The kernel takes no less than 1 ms.
fn quota_us(cpus: f64) -> u64 {
    let quota = Duration::from_micros(QUOTA_PERIOD_US).mul_f64(cpus.clamp(0.01, 100_000.0));
    u64::try_from(quota.as_micros()).unwrap_or(u64::MAX)
}

/// Cores as the kernel reads them: `0,2,3`.
fn list(cores: &[usize]) -> String {
    cores
        .iter()
        .map(usize::to_string)
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use bakeoff_model::suite::Limits;

    use super::{Group, quota_us};
    use crate::cgroup::{Hierarchy, Version};

    const LIMITS: Limits = Limits {
        cpus: Some(1.5),
        memory_bytes: Some(512 << 20),
    };

    /// A folder that looks like a mounted unified hierarchy with the session in `/user/shell`.
    fn unified(root: &Path, shell_passes_on: bool) -> String {
        fs::create_dir_all(root.join("user/shell")).unwrap();
        for dir in ["", "user", "user/shell"] {
            let dir = root.join(dir);
            fs::write(
                dir.join("cgroup.controllers"),
                "cpuset cpu io memory pids\n",
            )
            .unwrap();
            fs::write(dir.join("cgroup.subtree_control"), "memory cpu\n").unwrap();
        }
        if !shell_passes_on {
            // The kernel's error for a group that has processes: the write fails.
            let control = root.join("user/shell/cgroup.subtree_control");
            fs::remove_file(&control).unwrap();
            fs::create_dir(&control).unwrap();
        }
        format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n", root.display())
    }

    #[test]
    fn v2_group_is_made_below_the_own_group_with_its_limits() {
        let root = tempfile::tempdir().unwrap();
        let mountinfo = unified(root.path(), true);
        let hierarchy = Hierarchy::detect(&mountinfo, "0::/user/shell\n").unwrap();
        assert_eq!(hierarchy.version, Version::V2);
        assert_eq!(
            hierarchy.parent("cpu").unwrap(),
            root.path().join("user/shell")
        );
        let group = Group::make(&hierarchy, "bakeoff-1-x-0", LIMITS, &[0, 2]).unwrap();
        let dir = root.path().join("user/shell/bakeoff-1-x-0");
        let read = |file: &str| fs::read_to_string(dir.join(file)).unwrap();
        assert_eq!(read("cpu.max"), "150000 100000");
        assert_eq!(read("memory.max"), "536870912");
        assert_eq!(read("cpuset.cpus"), "0,2");
        assert_eq!(group.entrances(), [dir.join("cgroup.procs")]);
        let passed = root.path().join("user/shell/cgroup.subtree_control");
        assert_eq!(
            fs::read_to_string(passed).unwrap(),
            "+cpuset",
            "the rest was passed on"
        );
    }

    #[test]
    fn v2_group_moves_up_where_the_own_group_has_processes() {
        let root = tempfile::tempdir().unwrap();
        let mountinfo = unified(root.path(), false);
        let hierarchy = Hierarchy::detect(&mountinfo, "0::/user/shell\n").unwrap();
        assert_eq!(
            hierarchy.parent("memory").unwrap(),
            root.path().join("user")
        );
    }

    #[test]
    fn v1_group_has_its_limits_in_each_hierarchy() {
        let root = tempfile::tempdir().unwrap();
        let mut mountinfo = String::new();
        for (number, name) in ["cpu,cpuacct", "cpuset", "memory"].iter().enumerate() {
            let point = root.path().join(name);
            fs::create_dir_all(point.join("own")).unwrap();
            let line = format!(
                "{number} 1 0:{number} / {} rw - cgroup cgroup rw,{name}\n",
                point.display()
            );
            mountinfo.push_str(&line);
        }
        fs::write(root.path().join("cpuset/own/cpuset.mems"), "0\n").unwrap();
        fs::write(root.path().join("cpuset/own/cpuset.cpus"), "0-3\n").unwrap();
        let own = "4:memory:/own\n3:cpuset:/own\n2:cpu,cpuacct:/elsewhere\n";
        let hierarchy = Hierarchy::detect(&mountinfo, own).unwrap();
        assert_eq!(hierarchy.version, Version::V1);
        let group = Group::make(&hierarchy, "bakeoff-1-x-0", LIMITS, &[]).unwrap();
        let read = |path: &str| fs::read_to_string(root.path().join(path)).unwrap();
        assert_eq!(read("cpu,cpuacct/bakeoff-1-x-0/cpu.cfs_quota_us"), "150000");
        assert_eq!(read("cpuset/own/bakeoff-1-x-0/cpuset.cpus"), "0-3");
        assert_eq!(read("cpuset/own/bakeoff-1-x-0/cpuset.mems"), "0");
        assert_eq!(
            read("memory/own/bakeoff-1-x-0/memory.limit_in_bytes"),
            "536870912"
        );
        // There is no swap account in the fixture, so swapping is switched off instead.
        assert_eq!(read("memory/own/bakeoff-1-x-0/memory.swappiness"), "0");
        assert_eq!(group.entrances().len(), 3, "cpu and cpuacct are one");
    }

    #[test]
    fn hosts_without_the_controllers_say_so() {
        let root = tempfile::tempdir().unwrap();
        let line = format!(
            "41 31 0:38 / {} rw - cgroup2 cgroup2 rw\n",
            root.path().display()
        );
        let error = Hierarchy::detect(&line, "0::/\n").unwrap_err();
        assert_eq!(
            error,
            "no cgroup hierarchy with the controller cpu is mounted".into()
        );
        assert!(Hierarchy::detect("", "").is_err());
    }

    #[test]
    fn quota_is_exact_and_bounded() {
        assert_eq!(quota_us(1.5), 150_000);
        assert_eq!(quota_us(0.0), 1_000);
        assert_eq!(quota_us(f64::INFINITY), 10_000_000_000);
    }
}
