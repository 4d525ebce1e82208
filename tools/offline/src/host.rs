//! The host: its programs, its packages, and the terminal in front of it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail, ensure};

/// Installs packages of Debian, as root.
pub(crate) fn install(packages: &[&str]) -> anyhow::Result<()> {
    if program("apt-get").is_none() {
        bail!(
            "install {} with the package manager of this host",
            packages.join(" and ")
        );
    }
    say(&format!("installing {}", packages.join(" and ")));
    let apt = |arguments: &[&str]| -> anyhow::Result<()> {
        // Another process may be installing something at the moment.
        let status = Command::new("apt-get")
            .args(["-o", "DPkg::Lock::Timeout=600", "-qq"])
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .status()
            .context("cannot run apt-get")?;
        ensure!(
            status.success(),
            "apt-get {}: {status}",
            arguments.join(" ")
        );
        Ok(())
    };
    apt(&["update"])?;
    apt(&[&["install", "-y", "--no-install-recommends"], packages].concat())
}

/// Where a program is; daemons are often outside of the users' PATH.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let system = ["/usr/sbin", "/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&paths)
        .chain(system)
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}

/// Prints a line; a closed pipe is not an error.
pub(crate) fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}
