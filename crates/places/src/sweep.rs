//! Folders of a session for its temporary files, and the removal of what dead sessions left:
//! groups, processes, folders.
//!
//! Everything of ours is named `bakeoff-PROCESS-...`. A process number alone says little, since
//! numbers are used again: the folder of a session also names its start. All users can write to the
//! folder for temporary files: only what no other user can have written there is believed.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::cgroup::{Hierarchy, kill_group_dir, remove_dir};
use crate::meter::{Stat, all_processes};

/// Prefix of everything of ours.
pub const PREFIX: &str = "bakeoff-";

/// In a session's folder: the process that made it.
const SESSION_FILE: &str = "session";

/// In a session's folder: the main processes it started.
const STARTED_FILE: &str = "started";

/// Stands before the namespace at the end of a name.
const NAMESPACE: &str = "-ns";

/// The inode of the first namespace, `PROC_PID_INIT_INO` in Linux.
const FIRST_NAMESPACE: u64 = 0xefff_fffc;

/// Groups are nested less deep than this on every host we know.
const DEPTH_MAX: usize = 8;

/// The mode of a session's folder: no other user reads it or writes to it.
const OWN: u32 = 0o700;

/// The rights of others to write.
const WRITABLE_BY_OTHERS: u32 = 0o022;

/// A folder for temporary files that is removed with the session, or by a later one's sweep.
/// Dropping it removes it.
#[derive(Debug)]
pub struct RunFolder {
    folder: TempDir,
}

impl RunFolder {
    /// Makes a folder below `base` for this process; there may be several.
    ///
    /// # Errors
    /// The folder could not be made or written.
    pub fn make(base: &Path) -> io::Result<Self> {
        fs::create_dir_all(base)?;
        // A name that can be foreseen could be taken by another user beforehand.
        let prefix = format!("{}-", unique_name("run"));
        let mark = own_mark();
        let folder = tempfile::Builder::new()
            .prefix(&prefix)
            .permissions(fs::Permissions::from_mode(OWN))
            .tempdir_in(base)?;
        fs::write(folder.path().join(SESSION_FILE), mark)?;
        Ok(Self { folder })
    }

    /// Makes a folder below the default place.
    ///
    /// # Errors
    /// The folder could not be made or written; which, it says.
    pub fn temporary() -> io::Result<Self> {
        let base = run_base();
        let place = |error: io::Error| {
            let text = format!("{}: no folder can be made there: {error}", base.display());
            io::Error::new(error.kind(), text)
        };
        Self::make(&base).map_err(place)
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Notes a main process, so that a sweep finds the remains of its session even without groups.
    pub(crate) fn note_started(&self, pid: u32) -> io::Result<()> {
        let start = Stat::of(pid).map_or(0, |stat| stat.start_ticks);
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .create(true)
            .append(true)
            .open(self.path().join(STARTED_FILE))?;
        writeln!(file, "{pid} {start}")
    }
}

/// Where run folders are made by default: `$XDG_RUNTIME_DIR`, else the folder for temporary files.
#[must_use]
pub fn run_base() -> PathBuf {
    let dir = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
    dir.filter(|dir| dir.is_dir())
        .unwrap_or_else(std::env::temp_dir)
}

/// A name of ours that nothing else has: `bakeoff-PROCESS-LABEL-N`.
pub(crate) fn unique_name(label: &str) -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    let label: String = label
        .chars()
        .map(|letter| if plain(letter) { letter } else { '_' })
        .take(80)
        .collect();
    let namespace = namespace().map(|inode| format!("{NAMESPACE}{inode}"));
    let namespace = namespace.unwrap_or_default();
    format!("{PREFIX}{}-{label}-{number}{namespace}", std::process::id())
}

/// The namespace in which this process has its number; `None` for the first one of the host.
/// A container can see groups from elsewhere, whose numbers say nothing there.
fn namespace() -> Option<u64> {
    let own = fs::metadata("/proc/self/ns/pid").ok()?.ino();
    (own != FIRST_NAMESPACE).then_some(own)
}

/// The namespace in a name of ours.
fn namespace_in(name: &str) -> Option<u64> {
    name.rsplit_once(NAMESPACE)?.1.parse().ok()
}

/// Names a process beyond its number: the boot, its start and the namespace of its number.
fn session_mark(pid: u32) -> String {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let start = Stat::of(pid).map_or(0, |stat| stat.start_ticks);
    let namespace = namespace().map(|inode| format!(" {inode}"));
    format!(
        "{pid} {start} {}{}",
        boot.trim(),
        namespace.unwrap_or_default()
    )
}

/// The mark of this process. It is read once: qemu tells each thread another start of the process,
/// so that a session took its own folder for a dead one's.
fn own_mark() -> &'static str {
    static MARK: LazyLock<String> = LazyLock::new(|| session_mark(std::process::id()));
    &MARK
}

/// The process number in a name of ours.
fn owner(name: &str) -> Option<u32> {
    name.strip_prefix(PREFIX)?.split('-').next()?.parse().ok()
}

/// A folder that a session made, dead or alive.
struct Leftover {
    path: PathBuf,
    owner: u32,
    mark: String,
}

impl Leftover {
    /// Whether the session lives, as far as its number says something here.
    fn alive(&self) -> bool {
        let found = self.mark.split(' ').nth(3);
        if found.and_then(|inode| inode.parse().ok()) != namespace() {
            return true;
        }
        if self.owner == std::process::id() {
            return self.mark == own_mark();
        }
        Stat::of(self.owner).is_some_and(|stat| stat.state != 'Z')
            && self.mark == session_mark(self.owner)
    }
}

/// Folders below `base` that sessions of this user made. Others may like our prefix too, so a
/// folder without our mark is not ours.
fn run_folders(base: &Path) -> Vec<Leftover> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let owner = owner(entry.file_name().to_str()?)?;
            if !is_own(&entry.path()) {
                return None;
            }
            let mark = fs::read_to_string(entry.path().join(SESSION_FILE)).ok()?;
            let ours = mark.split(' ').next() == Some(&owner.to_string());
            ours.then(|| Leftover {
                path: entry.path(),
                owner,
                mark,
            })
        })
        .collect()
}

/// Folders below `base` whose processes were killed before they had written their mark: they have
/// nothing else in them. The names alone say whose they are, so the processes must be gone.
fn unmarked(base: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(base).into_iter().flatten().flatten();
    let is_unmarked = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let is_of_dead = name.is_some_and(|name| {
            let is_here = !name.contains(NAMESPACE) && namespace().is_none();
            is_here
                && name.contains("-run-")
                && owner(name).is_some_and(|owner| Stat::of(owner).is_none())
        });
        is_of_dead && is_own(path) && has_no_content(path)
    };
    entries
        .map(|entry| entry.path())
        .filter(is_unmarked)
        .collect()
}

/// Whether a folder has at most a mark that is empty.
fn has_no_content(folder: &Path) -> bool {
    let is_empty_mark = |entry: fs::DirEntry| {
        let length = entry.metadata().map_or(1, |found| found.len());
        entry.file_name() == SESSION_FILE && length == 0
    };
    let mut entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.all(is_empty_mark)
}

/// Whether only this user can have written what is in a folder: what it says chooses the processes
/// that are killed.
fn is_own(folder: &Path) -> bool {
    fs::symlink_metadata(folder).is_ok_and(|found| {
        found.is_dir()
            && found.uid() == geteuid().as_raw()
            && found.mode() & WRITABLE_BY_OTHERS == 0
    })
}

/// Removes the folders that dead sessions left below `base`, and what ran for them; a line for each
/// thing, and for each that is still there. Blocking.
#[must_use]
pub fn sweep_folders(base: &Path) -> Vec<String> {
    sweep(base, None, |_| Ok(Vec::new()))
}

/// Removes what dead sessions left below `base` and in the hierarchy's groups, and returns a line
/// for each thing; `devices` removes network devices, and is told whether the session of a process
/// is dead. What cannot be removed is in no one's way: it is a line as well. Blocking.
pub(crate) fn sweep(
    base: &Path,
    hierarchy: Option<&Hierarchy>,
    devices: impl FnOnce(&dyn Fn(u32) -> bool) -> io::Result<Vec<String>>,
) -> Vec<String> {
    let mut removed = Vec::new();
    let folders = run_folders(base);
    let dead = |pid: u32| {
        let mut known = folders
            .iter()
            .filter(|folder| folder.owner == pid)
            .peekable();
        if known.peek().is_none() {
            return Stat::of(pid).is_none();
        }
        known.all(|folder| !folder.alive())
    };
    let mut groups = Vec::new();
    for point in hierarchy
        .map(|hierarchy| hierarchy.points.as_slice())
        .unwrap_or_default()
    {
        find_groups(point, 0, &mut groups);
    }
    groups.retain(|(_, owner)| dead(*owner));
    for (group, _) in groups {
        kill_group_dir(&group);
        removed.extend(line("group", &group, remove_dir(&group)));
    }
    let devices = devices(&dead);
    removed
        .extend(devices.unwrap_or_else(|error| vec![format!("all but network devices: {error}")]));
    for path in unmarked(base) {
        removed.extend(line("folder", &path, fs::remove_dir_all(&path)));
    }
    for folder in folders.iter().filter(|folder| !folder.alive()) {
        removed.extend(kill_started(&folder.path));
        removed.extend(line(
            "folder",
            &folder.path,
            fs::remove_dir_all(&folder.path),
        ));
    }
    removed
}

/// Returns the line about a removal; none if another session swept the thing at the same time.
fn line(what: &str, path: &Path, outcome: io::Result<()>) -> Option<String> {
    let name = path.display();
    match outcome {
        Ok(()) => Some(format!("{what} {name}")),
        Err(_) if !path.exists() => None,
        Err(error) => Some(format!("all but {what} {name}: {error}")),
    }
}

fn find_groups(dir: &Path, depth: usize, found: &mut Vec<(PathBuf, u32)>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let name = entry.file_name();
        let name = name.to_str().unwrap_or_default();
        if let Some(owner) = owner(name) {
            let is_here = namespace_in(name) == namespace();
            found.extend(is_here.then(|| (entry.path(), owner)));
        } else if depth < DEPTH_MAX {
            find_groups(&entry.path(), depth + 1, found);
        }
    }
}

/// Kills the remaining processes of the sessions that a dead session's main processes led. A number
/// cannot be used again as long as a session bears it, and the start time excludes the rest.
fn kill_started(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join(STARTED_FILE)).unwrap_or_default();
    let started: Vec<(u32, u64)> = text
        .lines()
        .filter_map(|line| {
            let (pid, start) = line.split_once(' ')?;
            Some((pid.parse().ok()?, start.parse().ok()?))
        })
        .collect();
    let mut killed = Vec::new();
    for pid in all_processes() {
        let Some(stat) = Stat::of(pid) else { continue };
        let left = |(leader, start): &(u32, u64)| {
            stat.session == *leader && *start > 0 && stat.start_ticks >= *start
        };
        let number = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if let (true, Some(number)) = (started.iter().any(left), number)
            && kill_process(number, Signal::KILL).is_ok()
        {
            killed.push(format!("process {pid}"));
        }
    }
    killed
}

/// Where the files of revisions are: on a disk, because a repository may be large.
#[must_use]
pub fn trees_folder() -> PathBuf {
    bakeoff_build::cache_dir().join("trees")
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
    use std::path::{Path, PathBuf};
    use std::{fs, io};

    use rustix::process::geteuid;

    use super::{RunFolder, line, namespace, namespace_in, owner, sweep_folders, unique_name};

    /// A folder of that name with that mark, of which its user alone can write.
    fn folder(base: &Path, name: &str, mark: &str) -> PathBuf {
        let path = base.join(name);
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        fs::write(path.join("session"), mark).unwrap();
        path
    }

    #[test]
    fn folders_that_others_can_have_written_are_not_believed() {
        let base = tempfile::tempdir().unwrap();
        let make = |name: &str| folder(base.path(), name, "4194999 1 x");
        let open = make("bakeoff-4194999-run-0");
        fs::set_permissions(&open, fs::Permissions::from_mode(0o757)).unwrap();
        let target = make("target");
        symlink(&target, base.path().join("bakeoff-4194999-run-1")).unwrap();
        if geteuid().is_root() {
            chown(make("bakeoff-4194999-run-2"), Some(65_534), None).unwrap();
        }
        assert_eq!(sweep_folders(base.path()), Vec::<String>::new());
        make("bakeoff-4194999-run-3");
        assert_eq!(sweep_folders(base.path()).len(), 1);
    }

    #[test]
    fn what_is_gone_or_stays_is_not_the_end() {
        let base = tempfile::tempdir().unwrap();
        // More than a sweep removes before the next one has read their names.
        for number in 0..200 {
            folder(
                base.path(),
                &format!("bakeoff-4194999-run-{number}"),
                "4194999 1 x",
            );
        }
        let sweep = || sweep_folders(base.path());
        let removed = std::thread::scope(|scope| {
            let sweeps = [(); 3].map(|()| scope.spawn(sweep));
            sweeps.map(|sweep| sweep.join().unwrap()).concat()
        });
        assert!(
            removed.iter().all(|line| line.starts_with("folder ")),
            "{removed:?}"
        );
        assert_eq!(fs::read_dir(base.path()).unwrap().count(), 0);
        let stays = line("folder", base.path(), Err(io::Error::other("busy")));
        let expected = format!("all but folder {}: busy", base.path().display());
        assert_eq!(stays, Some(expected));
    }

    #[test]
    fn a_folder_is_its_users_alone_and_its_name_cannot_be_foreseen() {
        let base = tempfile::tempdir().unwrap();
        let made = RunFolder::make(base.path()).unwrap();
        let mode = made.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        let name = made.path().file_name().unwrap().to_str().unwrap();
        let (prefix, random) = name.rsplit_once('-').unwrap();
        assert!(random.len() >= 6, "{name}");
        assert_eq!(owner(prefix), Some(std::process::id()));
    }

    #[test]
    fn names_carry_their_owner() {
        let name = unique_name("rocket-0.4[workers=16]/ä");
        assert_eq!(owner(&name), Some(std::process::id()));
        assert!(name.contains("-rocket-0.4_workers_16___-"), "{name}");
        assert_eq!(namespace_in(&name), namespace());
        assert_eq!(namespace_in("bakeoff-7-get-0-ns12"), Some(12));
        assert_eq!(namespace_in("bakeoff-7-a-ns5-0"), None);
        assert_eq!(owner("bakeoff-x-1"), None);
        assert_eq!(owner("other-1-1"), None);
    }

    #[test]
    fn only_folders_of_dead_sessions_go() {
        let base = tempfile::tempdir().unwrap();
        let alive = RunFolder::make(base.path()).unwrap();
        let make = |name: &str, mark: &str| folder(base.path(), name, mark);
        let own = std::process::id();
        let reused = make(
            &format!("bakeoff-{own}-run-99"),
            &format!("{own} 1 other-boot"),
        );
        let dead = make("bakeoff-4194999-run-0", "4194999 1 x");
        let strange = make("bakeoff-2026-results", "");
        let elsewhere = make("bakeoff-4194999-run-1", "4194999 1 x 7");
        let unmarked = make("bakeoff-4194998-run-0-abc", "");
        let with_content = make("bakeoff-4194998-run-0-abd", "");
        fs::write(with_content.join("notes"), "mine").unwrap();
        let removed = sweep_folders(base.path());
        // Inside of another namespace, a number says nothing of a folder without a mark.
        let is_first = namespace().is_none();
        assert_eq!(removed.len(), 2 + usize::from(is_first), "{removed:?}");
        assert_eq!(unmarked.exists(), !is_first);
        assert!(with_content.exists());
        assert!(!reused.exists() && !dead.exists() && strange.exists());
        assert!(elsewhere.exists(), "its number is of another namespace");
        let path = alive.path().to_owned();
        assert!(path.exists());
        drop(alive);
        assert!(!path.exists());
    }
}
