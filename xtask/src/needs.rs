//! Programs and services that the tests need on this host: read from `needs.toml`, announced, then
//! installed.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::chores::{command, works};
use crate::workspace::say;

/// The needs of the tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Needs {
    package: Vec<Package>,
    toolchain: Vec<Toolchain>,
}

/// A package of Debian.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Package {
    name: String,
    /// A file that is there once it is installed.
    file: String,
    /// Alternatives.
    #[serde(default)]
    or: Vec<String>,
    why: String,
}

/// A Rust compiler besides the workspace's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Toolchain {
    name: String,
    /// The folder of the contender that needs it.
    contender: String,
}

/// Failed installations, and the parts that are left out.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// A line about each.
    pub(crate) lines: Vec<String>,
    /// Folders of the contenders that are left out for it.
    pub(crate) contenders: Vec<String>,
}

impl Needs {
    /// Reads the list of this repository.
    pub(crate) fn read() -> anyhow::Result<Self> {
        toml::from_str(include_str!("../needs.toml")).context("xtask/needs.toml")
    }

    /// Says what is about to be installed, as far as it is missing here.
    pub(crate) fn announce(&self) {
        for package in self.missing_packages() {
            say(&format!(
                "- install the Debian package {}: {}",
                package.name, package.why
            ));
        }
        for toolchain in self.missing_toolchains() {
            say(&format!(
                "- install Rust {} by rustup, for {}",
                toolchain.name, toolchain.contender
            ));
        }
    }

    /// Installs what is missing.
    pub(crate) fn install(&self, root: &Path) -> Failures {
        let mut failures = Failures::default();
        let packages = self.missing_packages().map(|one| one.name.as_str());
        let packages: Vec<&str> = packages.collect();
        if !packages.is_empty()
            && let Err(error) = install(root, &packages)
        {
            let line = format!("NOT INSTALLED: {}: {error:#}", packages.join(" "));
            failures.lines.push(line);
        }
        for toolchain in self.missing_toolchains() {
            if let Err(error) = install_toolchain(root, &toolchain.name) {
                let contender = &toolchain.contender;
                let line = format!("NOT TESTED: {contender}: {error:#}");
                failures.lines.push(line);
                failures.contenders.push(contender.clone());
            }
        }
        failures
    }

    fn missing_packages(&self) -> impl Iterator<Item = &Package> {
        let is_there = |package: &Package| {
            let mut files = std::iter::once(&package.file).chain(&package.or);
            files.any(|file| Path::new(file).exists())
        };
        self.package.iter().filter(move |one| !is_there(one))
    }

    fn missing_toolchains(&self) -> impl Iterator<Item = &Toolchain> {
        let missing =
            |one: &&Toolchain| !works("rustup", &["run", &one.name, "rustc", "--version"]);
        self.toolchain.iter().filter(missing)
    }
}

/// Installs packages of Debian, as root. Another process may be installing something at the moment.
pub(crate) fn install(root: &Path, packages: &[&str]) -> anyhow::Result<()> {
    let apt = |arguments: &str| {
        let line = format!("apt-get -o DPkg::Lock::Timeout=600 -qq {arguments}");
        command(root, &line, &[("DEBIAN_FRONTEND", "noninteractive")])
    };
    apt("update")?;
    let packages = packages.join(" ");
    apt(&format!("install -y --no-install-recommends {packages}"))
}

/// Installs a compiler without documentation and linters.
pub(crate) fn install_toolchain(root: &Path, name: &str) -> anyhow::Result<()> {
    let line = format!("rustup toolchain install {name} --profile minimal --no-self-update");
    command(root, &line, &[])
}

#[cfg(test)]
mod tests {
    use super::Needs;

    #[test]
    fn the_list_is_read() {
        let needs = Needs::read().unwrap();
        let absolute = |file: &str| file.starts_with('/');
        assert!(
            needs
                .package
                .iter()
                .all(|one| absolute(&one.file) && !one.why.is_empty())
        );
        let root = crate::workspace::root();
        let has = |folder: &str, file: &str| root.join(folder).join(file).is_file();
        let contender = |folder: &str| has(folder, "contender.toml");
        assert!(needs.toolchain.iter().all(|one| contender(&one.contender)));
    }
}
