//! A results folder while a session writes to it: locked, made if it is missing, and taken back if
//! nothing is measured.
//!
//! The folder itself is locked, and no file in it: the kernel unlocks it when its process ends,
//! however it ends, and readers find nothing that is not results.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bakeoff_base::hint::hinted;
use bakeoff_store::file::explain;
use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;

/// Folders inside, which are empty as long as nothing is measured. Logs first: they can say why.
const INSIDE: [&str; 2] = ["logs", "records"];

/// A results folder that no other session writes to, as long as this or a copy of it is there.
#[derive(Debug, Clone)]
pub struct LockedFolder(Arc<Held>);

#[derive(Debug)]
struct Held {
    path: PathBuf,
    /// The folder and those above it that were missing, the innermost first.
    made: Vec<PathBuf>,
    /// Open for as long as the folder is locked.
    _folder: File,
}

impl Drop for Held {
    fn drop(&mut self) {
        for folder in &self.made {
            // Those with something in them stay.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl LockedFolder {
    /// Locks a folder, and makes it and those above it that are missing.
    ///
    /// # Errors
    /// Another session writes to it, or the file system's error, each with a hint.
    pub fn make(path: &Path) -> anyhow::Result<Self> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = path.ancestors().take_while(missing);
        let made = made.map(Path::to_owned).collect();
        fs::create_dir_all(path).map_err(|error| explain(path, &error))?;
        let folder = File::open(path).map_err(|error| explain(path, &error))?;
        // Network file systems without locks are no reason to measure nothing.
        if flock(&folder, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
            let process = holder(&folder).map(|process| format!(" (process {process})"));
            return Err(hinted(
                format_args!(
                    "{}: another session writes to this folder{}",
                    path.display(),
                    process.unwrap_or_default()
                ),
                "wait for its end, or name another folder with --out",
            ));
        }
        Ok(Self(Arc::new(Held {
            path: path.to_owned(),
            made,
            _folder: folder,
        })))
    }

    /// Returns the path of the folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Removes the file that says what a new folder is, unless something else is there. With it the
    /// folder goes, once it is unlocked.
    pub fn withdraw(&self, file: &str) {
        let is_left = |name| {
            let folder = self.path().join(name);
            fs::remove_dir(&folder).is_err() && folder.exists()
        };
        // One with something inside stays, and then the rest does.
        if INSIDE.into_iter().any(is_left) {
            return;
        }
        let file = self.path().join(file);
        let entries = fs::read_dir(self.path()).into_iter().flatten().flatten();
        if entries.map(|entry| entry.path()).eq([file.clone()]) {
            let _ = fs::remove_file(&file);
        }
    }
}

/// The process that locked a folder, if the kernel shows it.
fn holder(folder: &File) -> Option<u32> {
    let found = folder.metadata().ok()?;
    let (device, inode) = (found.dev(), found.ino());
    let place = format!("{:02x}:{:02x}:{inode}", major(device), minor(device));
    let locks = fs::read_to_string("/proc/locks").ok()?;
    // `1: FLOCK  ADVISORY  WRITE 4711 fd:01:12345 0 EOF`, see proc_locks(5).
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            [_, "FLOCK", _, "WRITE", process, found, ..] if found == place => process.parse().ok(),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::LockedFolder;

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let top = tempfile::tempdir().unwrap();
        let path = top.path().join("a/b");
        let first = LockedFolder::make(&path).unwrap();
        let error = LockedFolder::make(&path).unwrap_err().to_string();
        assert!(error.contains("another session writes to"), "{error}");
        let copy = first.clone();
        drop(first);
        assert!(LockedFolder::make(&path).is_err(), "a copy holds it");
        assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
        drop(copy);
        assert!(!top.path().join("a").exists(), "nothing was written there");
    }

    #[test]
    fn what_was_made_is_taken_back_unless_something_is_there() {
        let top = tempfile::tempdir().unwrap();
        let check = |inside: &str, stays: bool| {
            let path = top.path().join("a");
            let folder = LockedFolder::make(&path).unwrap();
            for name in ["records", "logs"] {
                fs::create_dir(path.join(name)).unwrap();
            }
            fs::write(path.join("session.json"), "").unwrap();
            if !inside.is_empty() {
                fs::write(path.join(inside), "").unwrap();
            }
            folder.withdraw("session.json");
            drop(folder);
            assert_eq!(path.exists(), stays, "{inside}");
            assert_eq!(path.join("session.json").exists(), stays, "{inside}");
            assert_eq!(path.join("records").exists(), stays, "{inside}");
            let _ = fs::remove_dir_all(&path);
        };
        check("", false);
        check("logs/backend.log", true);
        check("records/run.jsonl", true);
    }
}
