//! The workspace on the disk, and the terminal in front of it.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.parent().unwrap_or(manifest).to_owned()
}

/// Returns the program that the tests have built: it stands next to this one.
pub(crate) fn bakeoff() -> anyhow::Result<PathBuf> {
    let own = std::env::current_exe().context("cannot find this program's own file")?;
    let bakeoff = own.with_file_name("bakeoff");
    ensure!(
        bakeoff.is_file(),
        "build bakeoff first: cargo build --bin bakeoff"
    );
    Ok(bakeoff)
}

/// Prints a line; a closed pipe is no error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
