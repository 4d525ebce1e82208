//! Stopping the time of everything in a group: `cgroup.freeze` of the unified hierarchy, or the
//! controller `freezer` of version 1.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// How long the kernel may take to bring every process to a halt, or to let it go on.
const LIMIT: Duration = Duration::from_secs(5);
/// How often it is asked.
const POLL: Duration = Duration::from_micros(200);

/// How a group folder is told, and how it says that it is done.
struct Freezer {
    /// The file that is written.
    control: &'static str,
    frozen: &'static str,
    thawed: &'static str,
    /// The file that is read, and what one of its lines says then.
    state: &'static str,
    is_frozen: &'static str,
    is_thawed: &'static str,
}

const FREEZERS: [Freezer; 2] = [
    Freezer {
        control: "cgroup.freeze",
        frozen: "1",
        thawed: "0",
        state: "cgroup.events",
        is_frozen: "frozen 1",
        is_thawed: "frozen 0",
    },
    Freezer {
        control: "freezer.state",
        frozen: "FROZEN",
        thawed: "THAWED",
        state: "freezer.state",
        is_frozen: "FROZEN",
        is_thawed: "THAWED",
    },
];

/// Freezes what is in a group folder; `None` where it has no freezer.
pub(crate) fn freeze_dir(dir: &Path) -> Option<Result<(), String>> {
    let freezer = of(dir)?;
    Some(set(
        dir,
        freezer.control,
        freezer.frozen,
        freezer.state,
        freezer.is_frozen,
    ))
}

/// Lets what is in a group folder go on; `None` where it has no freezer.
pub(crate) fn thaw_dir(dir: &Path) -> Option<Result<(), String>> {
    let freezer = of(dir)?;
    Some(set(
        dir,
        freezer.control,
        freezer.thawed,
        freezer.state,
        freezer.is_thawed,
    ))
}

fn of(dir: &Path) -> Option<&'static Freezer> {
    FREEZERS
        .iter()
        .find(|freezer| dir.join(freezer.control).exists())
}

/// Writes `value` and waits until a line of `state` is `expect`. Blocking, a few milliseconds.
fn set(dir: &Path, control: &str, value: &str, state: &str, expect: &str) -> Result<(), String> {
    let path = dir.join(control);
    fs::write(&path, value)
        .map_err(|error| format!("cannot write {value:?} to {}: {error}", path.display()))?;
    let began = Instant::now();
    let path = dir.join(state);
    loop {
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        if text.lines().any(|line| line.trim() == expect) {
            return Ok(());
        }
        if began.elapsed() > LIMIT {
            return Err(format!("{} does not come to {expect:?}", path.display()));
        }
        std::thread::sleep(POLL);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use std::process::Command;

    use bakeoff_model::suite::Limits;

    use super::{freeze_dir, thaw_dir};
    use crate::cgroup::{Group, Hierarchy};

    /// Without the unified hierarchy, which hybrid hosts have.
    #[test]
    #[expect(clippy::print_stderr, reason = "a skipped test must be seen")]
    fn what_the_controller_of_version_1_froze_can_be_removed() {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap();
        let lines = mounts.lines().filter(|line| !line.contains(" - cgroup2 "));
        let old: String = lines.map(|line| format!("{line}\n")).collect();
        let hierarchy = Hierarchy::detect(&old, &own);
        let group = hierarchy.and_then(|hierarchy| {
            let name = crate::sweep::unique_name("freezer");
            Group::make(&hierarchy, &name, Limits::default(), &[])
        });
        let mut group = match group {
            Ok(group) if group.dir("freezer").is_some() => group,
            _ => {
                eprintln!("\n******** NOT TESTED HERE ********\nno freezer of version 1\n");
                return;
            }
        };
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        for entrance in group.entrances() {
            fs::write(entrance, child.id().to_string()).unwrap();
        }
        group.freeze().unwrap();
        child.kill().unwrap();
        assert_eq!(
            child.try_wait().unwrap(),
            None,
            "frozen, it does not even die"
        );
        group.remove().unwrap();
        assert!(child.wait().unwrap().code().is_none());
    }

    #[test]
    fn both_versions_are_told_in_their_own_words() {
        let check = |files: [(&str, &str); 2], freeze: bool, expect: &str| {
            let dir = tempfile::tempdir().unwrap();
            for (name, text) in files {
                fs::write(dir.path().join(name), text).unwrap();
            }
            let act = if freeze { freeze_dir } else { thaw_dir };
            act(dir.path()).unwrap().unwrap();
            assert_eq!(
                fs::read_to_string(dir.path().join(files[0].0)).unwrap(),
                expect
            );
        };
        let events = |frozen| ("cgroup.events", frozen);
        check(
            [("cgroup.freeze", "0"), events("populated 1\nfrozen 1\n")],
            true,
            "1",
        );
        check(
            [("cgroup.freeze", "1"), events("populated 1\nfrozen 0\n")],
            false,
            "0",
        );
        // Its state is in the same file.
        check([("freezer.state", ""), ("tasks", "")], true, "FROZEN");
        check([("freezer.state", ""), ("tasks", "")], false, "THAWED");
        let none = tempfile::tempdir().unwrap();
        assert!(freeze_dir(none.path()).is_none());
    }
}
