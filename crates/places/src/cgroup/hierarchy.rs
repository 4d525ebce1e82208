//! The place in a hierarchy where our groups may be made.

use std::fs;
use std::path::{Path, PathBuf};

use bakeoff_base::problem::Problem;

use crate::cgroup::mounts::{Mount, dir_of, membership, mounts};
use crate::cgroup::removal::remove_dir;

/// Version of the control groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    /// One hierarchy a controller.
    V1,
    /// One hierarchy.
    V2,
}

/// Stands for the unified hierarchy alongside version 1.
pub(super) const UNIFIED: &str = "unified";

/// The folders below which our groups are made: below the session's own group if possible, so that
/// limits set on the session hold for everything it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hierarchy {
    /// The version in use.
    pub(crate) version: Version,
    /// Controller -> parent folder. Several controllers may share one.
    pub(crate) parents: Vec<(String, PathBuf)>,
    /// Mount points, where leftovers are looked for.
    pub(crate) points: Vec<PathBuf>,
}

impl Hierarchy {
    /// Finds the hierarchy from the texts of `/proc/self/mountinfo` and `/proc/self/cgroup`.
    ///
    /// # Errors
    /// A sentence that says what this host lacks.
    pub(crate) fn detect(mountinfo: &str, own: &str) -> Result<Self, Problem> {
        let mounts = mounts(mountinfo);
        let own = membership(own);
        if let Some(mount) = mounts.iter().find(|mount| is_full_v2(mount)) {
            return v2(mount, &own);
        }
        v1(&mounts, &own)
    }

    /// The hierarchy of this process.
    ///
    /// # Errors
    /// A sentence that says what this host lacks.
    pub(crate) fn of_this_host() -> Result<Self, Problem> {
        let mountinfo = fs::read_to_string("/proc/self/mountinfo")
            .map_err(|error| format!("cannot read /proc/self/mountinfo: {error}"))?;
        let own = fs::read_to_string("/proc/self/cgroup")
            .map_err(|error| format!("cannot read /proc/self/cgroup: {error}"))?;
        Self::detect(&mountinfo, &own)
    }

    /// The parent folder of a controller.
    pub(crate) fn parent(&self, controller: &str) -> Option<&Path> {
        self.parents
            .iter()
            .find(|(name, _)| name == controller)
            .map(|(_, path)| path.as_path())
    }
}

/// Whether a mount is the unified hierarchy and has what we need (a hybrid host has it mounted
/// without controllers).
fn is_full_v2(mount: &Mount) -> bool {
    mount.unified && {
        let controllers = words(&mount.point.join("cgroup.controllers"));
        ["cpu", "memory"]
            .iter()
            .all(|name| controllers.iter().any(|have| have == name))
    }
}

fn v1(mounts: &[Mount], own: &[(Vec<String>, String)]) -> Result<Hierarchy, Problem> {
    let mut parents = Vec::new();
    let mut points = Vec::new();
    for name in ["cpu", "cpuacct", "cpuset", "memory"] {
        let mount = mounts
            .iter()
            .find(|mount| !mount.unified && mount.controllers.iter().any(|have| have == name))
            .ok_or_else(|| format!("no cgroup hierarchy with the controller {name} is mounted"))?;
        // A membership outside of what is mounted happens in containers: the mount's own root is
        // then the nearest group that can be seen.
        let parent = dir_of(mount, own)
            .filter(|dir| dir.is_dir())
            .unwrap_or_else(|| mount.point.clone());
        parents.push((name.to_owned(), parent));
        points.push(mount.point.clone());
    }
    // The unified hierarchy alongside version 1 has no controllers, but pressure metrics and the
    // atomic kill. It is a bonus: nothing depends on it.
    if let Some(mount) = mounts.iter().find(|mount| mount.unified)
        && let Some(dir) = dir_of(mount, own).filter(|dir| dir.is_dir())
    {
        parents.push((UNIFIED.to_owned(), dir));
        points.push(mount.point.clone());
    }
    points.dedup();
    Ok(Hierarchy {
        version: Version::V1,
        parents,
        points,
    })
}

/// Version 2 allows controllers in a child only when its parent passes them on, and a parent that
/// has processes itself cannot: so look from the own group upwards for the nearest one that can.
fn v2(mount: &Mount, own: &[(Vec<String>, String)]) -> Result<Hierarchy, Problem> {
    let start = dir_of(mount, own)
        .filter(|dir| dir.is_dir())
        .unwrap_or_else(|| mount.point.clone());
    let mut refusal = None;
    for dir in start
        .ancestors()
        .take_while(|dir| dir.starts_with(&mount.point))
    {
        match pass_on(dir) {
            Ok(controllers) => {
                let parents = controllers
                    .into_iter()
                    .map(|name| (name, dir.to_path_buf()))
                    .collect();
                let points = vec![mount.point.clone()];
                return Ok(Hierarchy {
                    version: Version::V2,
                    parents,
                    points,
                });
            }
            Err(reason) => refusal = refusal.or(Some(reason)),
        }
    }
    Err(refusal.unwrap_or_else(|| "no cgroup of this session is visible".to_owned().into()))
}

/// Makes a group pass on cpu and memory, and cpuset if there is one.
fn pass_on(dir: &Path) -> Result<Vec<String>, Problem> {
    let available = words(&dir.join("cgroup.controllers"));
    let control = dir.join("cgroup.subtree_control");
    let passed = words(&control);
    let has = |list: &[String], name: &str| list.iter().any(|have| have == name);
    let mut controllers = Vec::new();
    for name in ["cpu", "memory", "cpuset"] {
        if !has(&available, name) {
            if name == "cpuset" {
                continue;
            }
            return Err(format!("{} has no controller {name}", dir.display()).into());
        }
        if !has(&passed, name) {
            let outcome = fs::write(&control, format!("+{name}"));
            if let Err(error) = outcome {
                if name == "cpuset" {
                    continue;
                }
                return Err(format!("{} does not pass on {name}: {error}", dir.display()).into());
            }
        }
        controllers.push(name.to_owned());
    }
    // The parent must also be ours to make groups in.
    let probe = dir.join(format!("bakeoff-{}-probe-0", std::process::id()));
    fs::create_dir(&probe).map_err(|error| format!("cannot make {}: {error}", probe.display()))?;
    let removed = remove_dir(&probe);
    removed.map_err(|error| format!("cannot remove {}: {error}", probe.display()))?;
    Ok(controllers)
}

fn words(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}
