//! Parses the mount table and the group membership of a process.

use std::path::{Path, PathBuf};

/// A mounted hierarchy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    /// Version 2, the unified hierarchy.
    pub(crate) unified: bool,
    /// Controllers of a version 1 hierarchy.
    pub(crate) controllers: Vec<String>,
    /// The group of the hierarchy that is visible at the mount point; `/` unless in a container.
    pub(crate) root: String,
    /// The mount point.
    pub(crate) point: PathBuf,
}

/// Parses `/proc/PID/mountinfo` and keeps the cgroup hierarchies. Later mounts on the same point
/// hide earlier ones, as the kernel has it.
pub(crate) fn mounts(mountinfo: &str) -> Vec<Mount> {
    let mut found: Vec<Mount> = Vec::new();
    for mount in mountinfo.lines().filter_map(mount) {
        found.retain(|earlier| earlier.point != mount.point);
        found.push(mount);
    }
    found
}

/// `31 23 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct`.
fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut right = right.split(' ');
    let unified = match right.next()? {
        "cgroup" => false,
        "cgroup2" => true,
        _ => return None,
    };
    let options = right.nth(1).unwrap_or_default();
    let left: Vec<&str> = left.split(' ').collect();
    Some(Mount {
        unified,
        controllers: options.split(',').map(str::to_owned).collect(),
        root: unescape(left.get(3)?),
        point: PathBuf::from(unescape(left.get(4)?)),
    })
}

/// The kernel writes space, tab, newline and backslash as three octal digits.
fn unescape(text: &str) -> String {
    [
        ("\\040", " "),
        ("\\011", "\t"),
        ("\\012", "\n"),
        ("\\134", "\\"),
    ]
    .iter()
    .fold(text.to_owned(), |text, (code, plain)| {
        text.replace(code, plain)
    })
}

/// Parses `/proc/PID/cgroup`: controllers (empty for version 2) and the path of the group.
pub(crate) fn membership(text: &str) -> Vec<(Vec<String>, String)> {
    text.lines()
        .filter_map(|line| {
            let mut parts = line.splitn(3, ':').skip(1);
            let controllers = parts.next()?;
            let path = parts.next()?;
            let controllers = controllers
                .split(',')
                .filter(|name| !name.is_empty())
                .map(str::to_owned);
            Some((controllers.collect(), path.to_owned()))
        })
        .collect()
}

/// Where the group of a process is visible in a mounted hierarchy; `None` when the process is
/// not in it or its group lies outside of what is mounted.
pub(crate) fn dir_of(mount: &Mount, membership: &[(Vec<String>, String)]) -> Option<PathBuf> {
    let (_, path) = membership.iter().find(|(controllers, _)| {
        if mount.unified {
            controllers.is_empty()
        } else {
            controllers
                .iter()
                .any(|name| mount.controllers.contains(name))
        }
    })?;
    let path = Path::new(path);
    let inside = path.strip_prefix(&mount.root).ok()?;
    Some(mount.point.join(inside))
}

#[cfg(test)]
mod tests {
    use super::{dir_of, membership, mounts};
    use std::path::PathBuf;

    const V1: &str = "\
23 1 254:0 / / rw - ext4 /dev/vda rw
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
41 31 0:38 / /sys/fs/cgroup/un\\040ified rw - cgroup2 cgroup2 rw,nsdelegate
";

    #[test]
    fn finds_the_group_of_a_process_in_each_hierarchy() {
        let member = membership("4:memory:/docker/abc/x\n2:cpu,cpuacct:/user\n0::/a/b\n");
        let dirs: Vec<_> = mounts(V1)
            .iter()
            .map(|mount| dir_of(mount, &member))
            .collect();
        let expect = ["cpu,cpuacct/user", "memory/x", "un ified/a/b"];
        let expect: Vec<_> = expect
            .iter()
            .map(|dir| Some(PathBuf::from("/sys/fs/cgroup").join(dir)))
            .collect();
        assert_eq!(dirs, expect);
    }

    #[test]
    fn a_group_outside_of_the_mount_is_nowhere() {
        let member = membership("4:memory:/other\n");
        assert_eq!(dir_of(&mounts(V1)[1], &member), None);
        assert_eq!(dir_of(&mounts(V1)[2], &member), None);
        assert!(mounts("garbage\n - \n1 2 - cgroup\n").is_empty());
    }
}
