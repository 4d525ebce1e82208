//! Files of a results folder that are written whole, and their error messages.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::hint::hinted;

/// Turns an error of the file system into a sentence that says what to do.
pub(super) fn explain(path: &Path, error: &std::io::Error) -> anyhow::Error {
    let hint = match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space, then go on with --resume; every finished line is kept"
        }
        ErrorKind::PermissionDenied
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists => "choose a writable folder with --out",
        _ => "every line written before is kept; go on with --resume",
    };
    hinted(
        format_args!("{}: cannot write results: {error}", path.display()),
        hint,
    )
}

/// Writes a file so that a reader sees either nothing or all of it.
///
/// # Errors
/// The file system's error, with a hint.
pub fn write_whole(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let temporary = path.with_extension("partial");
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&temporary, path)
    });
    written.map_err(|error| {
        // An unfinished file is not left behind; the first error is the one that matters.
        let _ = fs::remove_file(&temporary);
        explain(path, &error)
    })
}
