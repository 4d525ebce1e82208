//! The workspace on the disk, and output to the terminal.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns a program that was built: it stands next to this one.
pub(crate) fn built(name: &str) -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let program = own.with_file_name(name);
    ensure!(
        program.is_file(),
        "build it first: cargo build --bin {name}"
    );
    Ok(program)
}

/// Prints a line; a closed pipe is not an error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

/// The files that git knows or would add and that match a pattern, relative to the root.
pub(crate) fn tracked(root: &Path, pattern: &str) -> anyhow::Result<Vec<PathBuf>> {
    let output = Command::new("git")
        .args([
            "ls-files",
            "--cached",
            "--others",
            "--exclude-standard",
            "-z",
        ])
        .arg(pattern)
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    let list = String::from_utf8(output.stdout).context("git lists a file that is not UTF-8")?;
    // A file that was deleted and not yet committed is still listed.
    let mut files: Vec<PathBuf> = list
        .split_terminator('\0')
        .map(PathBuf::from)
        .filter(|file| root.join(file).is_file())
        .collect();
    files.sort();
    files.dedup();
    Ok(files)
}
