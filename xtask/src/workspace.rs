//! The workspace on the disk, and output to the terminal.

use std::io::Write as _;
use std::path::{Path, PathBuf};

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
