//! The contenders that were verified: `suites/NAME/verified.toml`, which is committed.
//!
//! Building and verifying every contender takes half an hour, and few change. So the ledger keeps
//! a digest of everything that decides the responses of a contender, and continuous integration
//! builds only those that changed lately, or a sample. A contender whose digest is another one
//! fails.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::Suite;
use crate::workspace::tracked;

/// The ledger's name in the folder of its suite.
const FILE: &str = "verified.toml";

const HEAD: &str = "\
# Contenders that were built and verified against the suite's real backend, with a digest of what
# decides their answers. `cargo xtask verify` writes it; continuous integration recomputes it.
";

/// Tables of `suite.toml` that decide the responses of contenders to checks: not how they are
/// measured.
const SUITE_TABLES: [&str; 4] = ["suite", "env", "env-unreachable", "backend"];
/// Keys that people read, in a suite or a contender.
const TEXTS: [&str; 3] = ["analysis", "describe", "note"];

/// The contenders of a suite that were verified, by the name of their folder.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ledger {
    #[serde(default)]
    contender: BTreeMap<String, Entry>,
}

/// One contender that was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Entry {
    /// Digest of its folder, and of the suite's checks, data and settings.
    digest: String,
    /// The contender or variant that was verified for the folder.
    verified: String,
    /// The day.
    on: String,
}

impl Ledger {
    /// Reads the ledger of a suite; empty if there is none.
    pub(crate) fn read(root: &Path, suite: &Suite) -> anyhow::Result<Self> {
        let file = root.join(&suite.folder).join(FILE);
        match file.is_file() {
            true => parse(&fs::read_to_string(&file)?).with_context(|| file.display().to_string()),
            false => Ok(Self::default()),
        }
    }

    /// Reads the ledger of a suite at a commit; `None` if there was none.
    fn at(root: &Path, suite: &Suite, commit: &str) -> anyhow::Result<Option<Self>> {
        let object = format!("{commit}:{}/{FILE}", suite.folder);
        let output = git(root, &["show", &object])?;
        output.map(|text| parse(&text)).transpose()
    }

    /// Enters contenders as verified now, drops those that are gone, and writes the ledger.
    pub(crate) fn enter(
        mut self,
        root: &Path,
        suite: &Suite,
        verified: &[String],
    ) -> anyhow::Result<()> {
        let digests = Digests::new(root, suite)?;
        let on = jiff::Zoned::now().date().to_string();
        self.contender
            .retain(|folder, _| suite.contenders.iter().any(|one| one.folder() == folder));
        for name in verified {
            let folder = folder_of(name).to_owned();
            let entry = Entry {
                digest: digests.of(&folder)?,
                verified: name.clone(),
                on: on.clone(),
            };
            self.contender.insert(folder, entry);
        }
        let text = format!("{HEAD}\n{}", toml::to_string(&self)?);
        let file = root.join(&suite.folder).join(FILE);
        fs::write(&file, text).with_context(|| file.display().to_string())
    }

    /// The contenders of a suite that are not as they were when they were verified.
    pub(crate) fn outdated(&self, root: &Path, suite: &Suite) -> anyhow::Result<Vec<String>> {
        let digests = Digests::new(root, suite)?;
        let mut outdated = Vec::new();
        for contender in &suite.contenders {
            let folder = contender.folder();
            let entry = self.contender.get(folder);
            let digest = digests.of(folder)?;
            if entry.is_none_or(|entry| entry.digest != digest) {
                outdated.push(contender.name.clone());
            }
        }
        Ok(outdated)
    }

    /// Folders whose entry is not that of a base.
    fn changed_since(&self, base: &Self) -> BTreeSet<String> {
        let changed =
            |(folder, entry): &(&String, &Entry)| base.contender.get(*folder) != Some(*entry);
        let changed = self.contender.iter().filter(changed);
        changed.map(|(folder, _)| folder.clone()).collect()
    }
}

/// Returns a finding for each suite with contenders that changed since they were verified.
pub(crate) fn findings(root: &Path, suites: &[Suite]) -> anyhow::Result<Vec<String>> {
    let mut findings = Vec::new();
    for suite in suites {
        let folder = &suite.folder;
        let outdated = Ledger::read(root, suite)?.outdated(root, suite)?;
        if !outdated.is_empty() {
            findings.push(format!(
                "{folder}/{FILE}: contenders changed since they were verified: run `cargo xtask \
                 verify {folder} {}` and commit the file",
                outdated.join(" ")
            ));
        }
    }
    Ok(findings)
}

/// The contenders of a suite that continuous integration verifies: those that were entered since a
/// base, or else `sample` of them, drawn by the commit that is checked out.
pub(crate) fn chosen(
    root: &Path,
    suite: &Suite,
    sample: usize,
) -> anyhow::Result<BTreeSet<String>> {
    let base = base(root)?;
    let before = match &base {
        Some(commit) => Ledger::at(root, suite, commit)?,
        None => None,
    };
    let ledger = Ledger::read(root, suite)?;
    // A suite that had no ledger does not show what changed.
    let mut chosen = before.map_or_else(BTreeSet::new, |before| ledger.changed_since(&before));
    let head = git(root, &["rev-parse", "HEAD"])?.unwrap_or_default();
    if chosen.is_empty() {
        let all = suite.contenders.iter().map(|one| one.folder());
        chosen.extend(drawn(all, &head).take(sample));
    }
    Ok(chosen)
}

/// Names in an order that a seed decides.
fn drawn<'a>(names: impl Iterator<Item = &'a str>, seed: &str) -> impl Iterator<Item = String> {
    let mut keyed: Vec<(Vec<u8>, String)> = names
        .map(|name| {
            let key = Sha256::digest(format!("{seed} {name}")).to_vec();
            (key, name.to_owned())
        })
        .collect();
    keyed.sort();
    keyed.into_iter().map(|(_, name)| name)
}

/// The commit with which ledgers are compared: that of `BAKEOFF_CI_BASE`, else the last one that is
/// a day older than the one that is checked out.
fn base(root: &Path) -> anyhow::Result<Option<String>> {
    if let Some(named) = std::env::var_os("BAKEOFF_CI_BASE").filter(|named| !named.is_empty()) {
        let named = named.to_string_lossy().into_owned();
        let commit = git(
            root,
            &["rev-parse", "--verify", &format!("{named}^{{commit}}")],
        )?;
        ensure!(commit.is_some(), "BAKEOFF_CI_BASE={named}: no such commit");
        return Ok(commit.map(|commit| commit.trim().to_owned()));
    }
    let Some(at) = git(root, &["log", "-1", "--format=%ct"])? else {
        return Ok(None);
    };
    let at: u64 = at.trim().parse().context("git has no time of its commit")?;
    let before = format!("--before={}", at.saturating_sub(24 * 60 * 60));
    let commit = git(root, &["rev-list", "-1", &before, "HEAD"])?;
    Ok(commit
        .map(|commit| commit.trim().to_owned())
        .filter(|commit| !commit.is_empty()))
}

/// Returns the output of git; `None` if it fails.
fn git(root: &Path, arguments: &[&str]) -> anyhow::Result<Option<String>> {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(root)
        .output()
        .context("cannot run git")?;
    let text = String::from_utf8(output.stdout).context("git prints what is not UTF-8")?;
    Ok(output.status.success().then_some(text))
}

fn parse(text: &str) -> anyhow::Result<Ledger> {
    Ok(toml::from_str(text)?)
}

/// The folder of a contender or variant.
pub(super) fn folder_of(name: &str) -> &str {
    name.split('/').next().unwrap_or(name)
}

/// Digests of the contenders of a suite.
struct Digests<'a> {
    root: &'a Path,
    suite: &'a Suite,
    /// Everything that is the suite's own.
    shared: Vec<u8>,
}

impl<'a> Digests<'a> {
    fn new(root: &'a Path, suite: &'a Suite) -> anyhow::Result<Self> {
        let mut hash = Sha256::new();
        let file = Path::new(&suite.folder).join("suite.toml");
        let mut table = table(&root.join(&file))?;
        table.retain(|key, _| SUITE_TABLES.contains(&key));
        part(&mut hash, &file, settings(table)?.as_bytes());
        for folder in ["checks", "data"] {
            for file in tracked(root, &format!("{}/{folder}/*", suite.folder))? {
                part(&mut hash, &file, &fs::read(root.join(&file))?);
            }
        }
        Ok(Self {
            root,
            suite,
            shared: hash.finalize().to_vec(),
        })
    }

    /// Returns the digest of a contender's folder and what its suite shares. Texts for people do
    /// not count.
    fn of(&self, folder: &str) -> anyhow::Result<String> {
        let mut hash = Sha256::new();
        hash.update(&self.shared);
        let pattern = format!("{}/contenders/{folder}/*", self.suite.folder);
        for file in tracked(self.root, &pattern)? {
            let path: PathBuf = self.root.join(&file);
            if file.ends_with("contender.toml") {
                part(&mut hash, &file, settings(table(&path)?)?.as_bytes());
            } else if file.extension().is_none_or(|end| end != "md") {
                part(&mut hash, &file, &fs::read(&path)?);
            }
        }
        Ok(format!("sha256:{}", hex(&hash.finalize())))
    }
}

fn table(file: &Path) -> anyhow::Result<toml::Table> {
    let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
    toml::from_str(&text).with_context(|| file.display().to_string())
}

/// A file's settings without comments and texts for people, in one order.
fn settings(mut table: toml::Table) -> anyhow::Result<String> {
    drop_texts(&mut table);
    Ok(toml::to_string(&sorted(table))?)
}

/// The table with its keys in one order, in whichever the file has them.
fn sorted(table: toml::Table) -> toml::Table {
    let each = table.into_iter();
    let each = each.map(|(key, value)| (key, sorted_value(value)));
    let sorted: BTreeMap<String, toml::Value> = each.collect();
    sorted.into_iter().collect()
}

fn sorted_value(value: toml::Value) -> toml::Value {
    match value {
        toml::Value::Table(inner) => toml::Value::Table(sorted(inner)),
        toml::Value::Array(all) => toml::Value::Array(all.into_iter().map(sorted_value).collect()),
        other => other,
    }
}

fn drop_texts(table: &mut toml::Table) {
    table.retain(|key, _| !TEXTS.contains(&key));
    for (_, value) in table.iter_mut() {
        if let toml::Value::Table(inner) = value {
            drop_texts(inner);
        }
    }
}

fn part(hash: &mut Sha256, file: &Path, bytes: &[u8]) {
    let name = file.to_string_lossy();
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name.as_bytes());
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::process::Command;

    use super::super::{Suite, suites};
    use super::{Ledger, chosen, drawn, findings};

    /// A repository with one suite of some contenders, all committed.
    fn repository(contenders: &[&str]) -> (tempfile::TempDir, Suite) {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        git(root, "init --quiet");
        write(root, "suite.toml", "[profile.smoke]\n[suite]\nport = 1\n");
        write(root, "checks/get.toml", "path = '/'");
        for name in contenders {
            let file = format!("contenders/{name}/contender.toml");
            write(root, &file, "[contender]\nlanguage = 'c'\ndescribe = 'x'\n");
            write(root, &format!("contenders/{name}/main.c"), "int main;");
        }
        commit(root);
        let suite = suites(root).unwrap().remove(0);
        (folder, suite)
    }

    fn write(root: &Path, file: &str, text: &str) {
        let file = root.join("suites/s").join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn git(root: &Path, line: &str) -> String {
        let person = ["-c", "user.name=x", "-c", "user.email=x@x"];
        let mut git = Command::new("git");
        let git = git.args(person).args(line.split(' ')).current_dir(root);
        let output = git.output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    fn commit(root: &Path) {
        git(root, "add --all");
        git(root, "commit --quiet --message x");
    }

    fn enter(root: &Path, suite: &Suite, names: &[&str]) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let ledger = Ledger::read(root, suite).unwrap();
        ledger.enter(root, suite, &names).unwrap();
    }

    #[test]
    fn a_contender_that_changed_since_it_was_verified_is_found() {
        let (folder, suite) = repository(&["a", "b"]);
        let root = folder.path();
        let check = |expect: &str| {
            let found = findings(root, &[suites(root).unwrap().remove(0)]).unwrap();
            let command = format!("run `cargo xtask verify suites/s {expect}` and");
            let is_found = !expect.is_empty();
            assert_eq!(found.len(), usize::from(is_found), "{found:?}");
            assert!(
                found.iter().all(|line| line.contains(&command)),
                "{found:?}"
            );
        };
        check("a b");
        enter(root, &suite, &["a", "b"]);
        check("");
        // Texts for people, and how the suite is measured, decide nothing.
        write(root, "contenders/a/README.md", "about a");
        write(
            root,
            "contenders/a/contender.toml",
            "[contender]\nlanguage = 'c' # y\ndescribe = 'y'",
        );
        write(
            root,
            "suite.toml",
            "[suite]\nport = 1\n[profile.smoke]\nruns = 2",
        );
        check("");
        write(root, "contenders/a/main.c", "int other;");
        check("a");
        write(root, "checks/get.toml", "path = '/other'");
        check("a b");
    }

    #[test]
    fn what_was_entered_since_the_base_is_verified_again_or_else_a_sample() {
        let names = ["a", "b", "c", "d", "e"];
        let (folder, suite) = repository(&names);
        let root = folder.path();
        enter(root, &suite, &names);
        git(root, "add --all");
        let long_ago = "2001-01-01T00:00:00Z";
        let mut git_then = Command::new("git");
        let person = [
            "-c",
            "user.name=x",
            "-c",
            "user.email=x@x",
            "commit",
            "-qm",
            "x",
        ];
        let git_then = git_then.args(person).env("GIT_COMMITTER_DATE", long_ago);
        assert!(git_then.current_dir(root).status().unwrap().success());
        let drawn_only = chosen(root, &suite, 2).unwrap();
        assert_eq!(drawn_only.len(), 2);
        write(root, "contenders/c/main.c", "int other;");
        enter(root, &suite, &["c"]);
        commit(root);
        let now = chosen(root, &suite, 2).unwrap();
        assert_eq!(now.into_iter().collect::<Vec<_>>(), ["c"]);
    }

    #[test]
    fn each_commit_draws_its_own_sample() {
        let names = || ["a", "b", "c", "d"].into_iter();
        let order = |seed: &str| drawn(names(), seed).collect::<Vec<String>>();
        assert_eq!(order("1"), order("1"));
        let mut sorted = order("1");
        sorted.sort();
        assert_eq!(sorted, ["a", "b", "c", "d"]);
        assert!((2..20).any(|seed| order(&seed.to_string()) != order("1")));
    }
}
