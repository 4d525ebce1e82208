//! What the tests need of this host: read from `needs.toml`, announced, then installed.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::chores::{command, works};
use crate::docker;
use crate::workspace::say;

/// What the tests need.
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
    why: String,
}

/// A Rust compiler beside the workspace's own.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Toolchain {
    name: String,
    why: String,
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
                "- install Rust {} by rustup: {}",
                toolchain.name, toolchain.why
            ));
        }
    }

    /// Installs what is missing; for everything that cannot be had, a line about it.
    pub(crate) fn install(&self, root: &Path) -> Vec<String> {
        let mut failures = Vec::new();
        let packages: Vec<&str> = self
            .missing_packages()
            .map(|one| one.name.as_str())
            .collect();
        if !packages.is_empty()
            && let Err(error) = docker::install(&packages)
        {
            failures.push(format!("NOT INSTALLED: {}: {error:#}", packages.join(" ")));
        }
        for toolchain in self.missing_toolchains() {
            if let Err(error) = install_toolchain(root, &toolchain.name) {
                failures.push(format!(
                    "NOT INSTALLED: Rust {}, for {}: {error:#}",
                    toolchain.name, toolchain.why
                ));
            }
        }
        failures
    }

    fn missing_packages(&self) -> impl Iterator<Item = &Package> {
        let missing = |package: &&Package| !Path::new(&package.file).exists();
        self.package.iter().filter(missing)
    }

    fn missing_toolchains(&self) -> impl Iterator<Item = &Toolchain> {
        let missing =
            |one: &&Toolchain| !works("rustup", &["run", &one.name, "rustc", "--version"]);
        self.toolchain.iter().filter(missing)
    }
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
        assert!(needs.toolchain.iter().all(|one| !one.why.is_empty()));
    }
}
