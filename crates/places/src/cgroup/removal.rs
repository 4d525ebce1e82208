//! Killing what is in a group folder, and removing the folder.

use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How long a removal waits for the kernel to let go of processes that were killed.
const REMOVAL_LIMIT: Duration = Duration::from_secs(5);

/// The processes of a group folder.
fn processes(dir: &Path) -> Vec<u32> {
    let text = fs::read_to_string(dir.join("cgroup.procs")).unwrap_or_default();
    text.lines()
        .filter_map(|line| line.trim().parse().ok())
        .collect()
}

/// Kills every process in a group folder; what forks meanwhile is met in the next round.
pub(crate) fn kill_group_dir(dir: &Path) {
    let atomic = dir.join("cgroup.kill");
    if atomic.exists() && fs::write(&atomic, "1").is_ok() {
        return;
    }
    for _ in 0..100 {
        let processes = processes(dir);
        let mut found = false;
        for pid in processes
            .into_iter()
            .filter_map(|pid| Pid::from_raw(i32::try_from(pid).ok()?))
        {
            found |= kill_process(pid, Signal::KILL).is_ok();
        }
        if !found {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Removes a group folder and those below it, retrying while the kernel says that it is busy.
pub(crate) fn remove_dir(dir: &Path) -> io::Result<()> {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            kill_group_dir(&entry.path());
            remove_dir(&entry.path())?;
        }
    }
    let began = Instant::now();
    loop {
        match fs::remove_dir(dir) {
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() != io::ErrorKind::ResourceBusy => return Err(error),
            Err(error) if began.elapsed() > REMOVAL_LIMIT => return Err(error),
            Err(_) => {
                kill_group_dir(dir);
                std::thread::sleep(Duration::from_millis(2));
            }
        }
    }
}
