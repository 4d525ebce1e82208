//! A results folder that is made for a session, and is removed when nothing is measured.

use std::fs;
use std::path::{Path, PathBuf};

use super::file::explain;

/// Folders inside, which are empty as long as nothing is measured.
const INSIDE: [&str; 2] = ["records", "logs"];

/// A folder that was made for a session.
#[derive(Debug)]
pub(crate) struct NewFolder {
    /// The file in it that says what it is.
    file: PathBuf,
    /// It and those above it that were missing, the innermost first.
    made: Vec<PathBuf>,
}

impl NewFolder {
    /// Makes a folder for a file of this name, and those above it that are missing.
    ///
    /// # Errors
    /// The file system's error, with a hint.
    pub(crate) fn make(folder: &Path, file: &str) -> anyhow::Result<Self> {
        let missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
        let made = folder.ancestors().take_while(missing);
        let made = made.map(Path::to_owned).collect();
        fs::create_dir_all(folder).map_err(|error| explain(folder, &error))?;
        let file = folder.join(file);
        Ok(Self { file, made })
    }

    /// Removes the file and the folders, unless something else is in them.
    pub(crate) fn withdraw(&self) {
        let Some(folder) = self.file.parent() else {
            return;
        };
        for name in INSIDE {
            // One with something inside stays, and then the file does.
            let _ = fs::remove_dir(folder.join(name));
        }
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        if !entries.map(|entry| entry.path()).eq([self.file.clone()]) {
            return;
        }
        let _ = fs::remove_file(&self.file);
        for folder in &self.made {
            // Others may have put something there meanwhile.
            let _ = fs::remove_dir(folder);
        }
    }
}
