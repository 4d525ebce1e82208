//! The view of a meter on its node: when a Pod's program starts, when it responds, where its group
//! is.
//!
//! The API server reports that a Pod runs up to a second after its program started; a native
//! service has responded by then. So its start is timed on its node, on one clock, by what the
//! kernel shows. Needs the node's process numbers (`hostPID`) and its cgroup files, and no rights
//! of root.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::cgroup::Version;
use crate::container_start::{is_prepared, own_address};
use crate::local::sockets::listeners_beside;
use crate::meter::Meter;
use crate::ready::{Unanswered, await_answer, monotonic_ns};
use crate::remote::protocol::{PodReply, Watched};

/// Distance of two looks for a Pod's group, which the kubelet makes long before its program.
const POLL_GROUP: Duration = Duration::from_millis(2);
/// Distance of two looks for a Pod's program.
pub(super) const POLL: Duration = Duration::from_micros(200);
/// The process that holds a Pod's network.
const HOLDER: &str = "pause";
/// A container that is still alone in its Pod after this long, ns, is its program.
const ALONE_NS: u64 = 2_000_000_000;
/// Groups of containers are less deep than this: kubepods, class, Pod, container.
const DEPTH: u32 = 5;

/// A Pod's program that has started.
pub(super) struct Begun {
    pub(super) pid: u32,
    /// When the program's group was there, monotonic ns.
    pub(super) taken_ns: u64,
    /// Last moment at which it had not yet started, monotonic ns.
    pub(super) at_ns: u64,
}

/// Waits for the program of a Pod, which `find` awaits, and its first valid response, and times
/// both. Blocks.
pub(super) fn watch(watched: &Watched, find: impl FnOnce(Instant) -> Option<Begun>) -> PodReply {
    let deadline = Instant::now() + Duration::from_nanos(watched.limit_ns);
    let Some(begun) = find(deadline) else {
        return PodReply::NoProgram;
    };
    let Some(address) = own_address(begun.pid) else {
        return PodReply::NoAnswer("a Pod without its own IPv4 address".to_owned());
    };
    let at = SocketAddr::new(IpAddr::V4(address), watched.port);
    let left = deadline.saturating_duration_since(Instant::now());
    let mut ended = || !Path::new(&format!("/proc/{}", begun.pid)).exists();
    match await_answer(at, &watched.path, &watched.spoken, left, &mut ended) {
        Ok(answered) => {
            let now_ns = monotonic_ns();
            PodReply::Answered {
                taken_ago_ns: now_ns.saturating_sub(begun.taken_ns),
                executed_ago_ns: now_ns.saturating_sub(begun.at_ns),
                listened_ago_ns: now_ns.saturating_sub(answered.listened_ns),
                answered_ago_ns: now_ns.saturating_sub(answered.answered_ns),
            }
        }
        Err(Unanswered::NoAnswer(found)) => PodReply::NoAnswer(found),
        Err(Unanswered::NoListener) => PodReply::NoListener {
            listens: listeners_beside(begun.pid),
        },
        Err(Unanswered::Ended) => PodReply::Ended,
    }
}

/// Waits for the program of a Pod by the node's cgroup files below `root`.
pub(super) fn await_program(root: &Path, watched: &Watched, deadline: Instant) -> Option<Begun> {
    let memory = root.join("memory");
    let hierarchy = if memory.is_dir() {
        memory
    } else {
        root.to_owned()
    };
    let group = loop {
        if let Some(group) = group_of(&hierarchy, &watched.pod) {
            break group;
        }
        if Instant::now() >= deadline {
            return None;
        }
        thread::sleep(POLL_GROUP);
    };
    let taken_ns = monotonic_ns();
    let mut before_ns = taken_ns;
    let mut search = Search::default();
    while Instant::now() < deadline {
        let now_ns = monotonic_ns();
        let found = prepared(&group);
        if let Some((pid, at_ns)) = search.look(&found, &watched.program, before_ns) {
            return Some(Begun {
                pid,
                taken_ns,
                at_ns,
            });
        }
        before_ns = now_ns;
        thread::sleep(POLL);
    }
    None
}

/// A process in the group of one of a Pod's containers that is past its preparation.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Prepared {
    container: PathBuf,
    pid: u32,
    /// The name of the process, and the program with which its command line starts.
    name: String,
    program: String,
}

fn prepared(pod: &Path) -> Vec<Prepared> {
    let containers = fs::read_dir(pod).into_iter().flatten().flatten();
    let first = |container: PathBuf| {
        let list = fs::read_to_string(container.join("cgroup.procs")).ok()?;
        let mut pids = list.lines().filter_map(|line| line.parse::<u32>().ok());
        let pid = pids.find(|pid| *pid > 0 && is_prepared(*pid))?;
        let read = |file: &str| fs::read_to_string(format!("/proc/{pid}/{file}"));
        let line = read("cmdline").unwrap_or_default();
        Some(Prepared {
            container,
            pid,
            name: read("comm").unwrap_or_default().trim_end().to_owned(),
            program: line.split('\0').next().unwrap_or_default().to_owned(),
        })
    };
    containers.filter_map(|one| first(one.path())).collect()
}

/// Which of a Pod's containers is not the holder of its network. That one comes first, and is
/// called `pause` mostly; some clusters have none.
#[derive(Debug, Default)]
struct Search {
    /// The first one that may be either, and when it was seen to start.
    first: Option<(Prepared, u64)>,
    has_holder: bool,
}

impl Search {
    /// The program's process and when it started, once that is certain.
    fn look(&mut self, found: &[Prepared], wanted: &str, before_ns: u64) -> Option<(u32, u64)> {
        let is_holder = |one: &&Prepared| one.name == HOLDER && one.program != wanted;
        self.has_holder |= found.iter().any(|one| is_holder(&one));
        let others = || found.iter().filter(|one| !is_holder(one));
        let sure = others().find(|one| {
            let second = |(first, _): &(Prepared, u64)| first.container != one.container;
            let is_wanted = !wanted.is_empty() && one.program == wanted;
            is_wanted || self.has_holder || self.first.as_ref().is_some_and(second)
        });
        if let Some(one) = sure {
            return Some((one.pid, before_ns));
        }
        if let (None, Some(one)) = (&self.first, others().next()) {
            self.first = Some((one.clone(), before_ns));
        }
        let (first, at_ns) = self.first.as_ref()?;
        (before_ns.saturating_sub(*at_ns) > ALONE_NS).then_some((first.pid, *at_ns))
    }
}

/// The meter of a container by the node's cgroup files below `root`; `None` while it has no group.
pub(super) fn meter(root: &Path, container: &str) -> Option<Meter> {
    meter_in(root, |hierarchy| group_of(hierarchy, container))
}

/// The meter of the group that is found in each hierarchy below `root`.
pub(super) fn meter_in(root: &Path, find: impl Fn(&Path) -> Option<PathBuf>) -> Option<Meter> {
    if root.join("cgroup.controllers").exists() {
        let group = find(root)?;
        let dirs = ["cpu", "memory", "unified"].map(|name| (name.to_owned(), group.clone()));
        return Some(Meter::of_dirs(Version::V2, &dirs));
    }
    let names = ["cpu", "cpuacct", "memory", "unified"];
    let group = |name: &str| Some((name.to_owned(), find(&root.join(name))?));
    let dirs: Vec<(String, PathBuf)> = names.iter().filter_map(|name| group(name)).collect();
    let has = |name: &str| dirs.iter().any(|(have, _)| have == name);
    (has("cpu") && has("memory")).then(|| Meter::of_dirs(Version::V1, &dirs))
}

/// The group of a Pod or a container, whose name holds its identity; systemd's names have
/// underscores for the dashes.
fn group_of(root: &Path, identity: &str) -> Option<PathBuf> {
    below(
        root,
        &[identity.to_owned(), identity.replace('-', "_")],
        DEPTH,
    )
}

fn below(folder: &Path, names: &[String; 2], depth: u32) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    let folders: Vec<PathBuf> = entries
        .filter(|one| one.file_type().is_ok_and(|kind| kind.is_dir()))
        .map(|one| one.path())
        .collect();
    let is_it = |folder: &&PathBuf| {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        names.iter().any(|wanted| name.contains(wanted.as_str()))
    };
    if let Some(found) = folders.iter().find(is_it) {
        return Some(found.clone());
    }
    let deeper = depth.checked_sub(1)?;
    folders
        .iter()
        .find_map(|folder| below(folder, names, deeper))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{ALONE_NS, Prepared, Search, group_of, meter};

    fn process(container: &str, pid: u32, name: &str) -> Prepared {
        Prepared {
            container: container.into(),
            pid,
            name: name.to_owned(),
            program: format!("/{name}"),
        }
    }

    #[test]
    fn the_holder_of_a_network_is_not_the_program() {
        let app = || process("b", 2, "app");
        let check = |looks: &[&[Prepared]], wanted: &str, expect: Option<(u32, u64)>| {
            let mut search = Search::default();
            let looks = looks.iter().enumerate();
            let mut found =
                looks.map(|(at, look)| search.look(look, wanted, at as u64 * (ALONE_NS / 2 + 1)));
            assert_eq!(found.find_map(|found| found), expect);
        };
        let first = ALONE_NS / 2 + 1;
        let pause = [process("a", 1, "pause")];
        let both = [process("a", 1, "pause"), app()];
        check(&[&pause, &both], "", Some((2, first)));
        check(&[&both], "/app", Some((2, 0)));
        // One that is called otherwise is known by being first.
        let hold = [process("a", 1, "hold")];
        let both = [process("a", 1, "hold"), app()];
        check(&[&hold, &both], "", Some((2, first)));
        check(&[&[app()]], "/app", Some((2, 0)));
        check(&[&[app()]], "", None);
        check(&[&[app()], &[app()], &[app()]], "", Some((2, 0)));
    }

    #[test]
    fn groups_are_found_under_either_driver() {
        let root = tempfile::tempdir().unwrap();
        let check = |folder: &str| {
            let folder = root.path().join(folder);
            fs::create_dir_all(&folder).unwrap();
            assert_eq!(group_of(root.path(), "12-ab"), Some(folder.clone()));
            fs::remove_dir(&folder).unwrap();
        };
        check("kubepods/burstable/pod12-ab");
        check("kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod12_ab.slice");
        assert_eq!(group_of(root.path(), "12-ab"), None);
    }

    #[test]
    fn a_container_without_a_group_has_no_meter() {
        let root = tempfile::tempdir().unwrap();
        assert!(meter(root.path(), "0123").is_none());
    }
}
