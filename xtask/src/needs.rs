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
    #[serde(default)]
    untested: Vec<Untested>,
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
    /// The folder of the contender that needs it.
    contender: String,
}

/// A contender or a whole suite that is left out although it could be built.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Untested {
    /// Its folder.
    folder: String,
    why: String,
}

/// What could not be installed, and what is left out.
#[derive(Debug, Default)]
pub(crate) struct Failures {
    /// A line about each.
    pub(crate) lines: Vec<String>,
    /// Folders of the contenders that are left out for it.
    pub(crate) contenders: Vec<String>,
}

impl Needs {
    /// Reads the list of this repository, with nothing left out if `all` is wanted.
    pub(crate) fn read(all: bool) -> anyhow::Result<Self> {
        let text = include_str!("../needs.toml");
        let mut needs: Self = toml::from_str(text).context("xtask/needs.toml")?;
        if all {
            needs.untested.clear();
        }
        Ok(needs)
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
        let mut failures = self.untested();
        let packages = self.missing_packages().map(|one| one.name.as_str());
        let packages: Vec<&str> = packages.collect();
        if !packages.is_empty()
            && let Err(error) = docker::install(&packages)
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

    /// What is left out on every host.
    fn untested(&self) -> Failures {
        let line = |one: &Untested| format!("NOT TESTED: {}: {}", one.folder, one.why);
        Failures {
            lines: self.untested.iter().map(line).collect(),
            contenders: self.untested.iter().map(|one| one.folder.clone()).collect(),
        }
    }

    /// Whether a whole suite is left out.
    pub(crate) fn leaves_out(&self, suite: &str) -> bool {
        self.untested.iter().any(|one| one.folder == suite)
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
        let needs = Needs::read(false).unwrap();
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
        let suite = |folder: &str| has(folder, "suite.toml");
        assert!(needs.toolchain.iter().all(|one| contender(&one.contender)));
        let untested = |folder: &str| contender(folder) || suite(folder);
        assert!(needs.untested.iter().all(|one| untested(&one.folder)));
    }

    #[test]
    fn what_is_left_out_is_said_with_its_reason() {
        let text = "package = []\ntoolchain = []\n\
                    [[untested]]\nfolder = 'suites/x/contenders/a'\nwhy = 'it crashes'";
        let failures = toml::from_str::<Needs>(text).unwrap().untested();
        assert_eq!(failures.contenders, ["suites/x/contenders/a"]);
        let line = "NOT TESTED: suites/x/contenders/a: it crashes";
        assert_eq!(failures.lines, [line]);
    }

    #[test]
    fn a_suite_is_left_out_by_its_own_folder_only() {
        let text = "package = []\ntoolchain = []\n\
                    [[untested]]\nfolder = 'suites/x/contenders/a'\nwhy = 'it crashes'\n\
                    [[untested]]\nfolder = 'suites/y'\nwhy = 'nobody has tried it'";
        let needs = toml::from_str::<Needs>(text).unwrap();
        assert!(needs.leaves_out("suites/y"));
        assert!(!needs.leaves_out("suites/x"));
    }
}
