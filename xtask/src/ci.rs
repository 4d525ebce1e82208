//! What continuous integration runs, runnable by anyone.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{base_images, docker, say, tidy};

/// The suite whose contenders are verified for real.
const SUITE: &str = "suites/locations";
/// Those that are verified in containers as well: its main round.
const MAIN_ROUND: [&str; 4] = ["actix-4", "axum", "http4k-3", "ktor-3"];
/// What contenders need beside compilers, as Debian calls it, and a program or file of each.
const PACKAGES: [(&str, &str); 3] = [
    ("libssl-dev", "/usr/include/openssl/ssl.h"),
    ("pkg-config", "/usr/bin/pkg-config"),
    ("patch", "/usr/bin/patch"),
];

/// The one contender whose build fetches a compiler, and how that is fetched.
const OLD_CONTENDER: &str = "rocket-0.4";
const OLD_COMPILER: &str =
    "rustup toolchain install nightly-2022-06-23 --profile minimal --no-self-update";

/// Format, lints, tidy, licences, then everything of [`test`].
pub(crate) fn ci(root: &Path) -> anyhow::Result<()> {
    run(root, "cargo fmt --all --check")?;
    run(
        root,
        "cargo clippy --workspace --all-targets -- -D warnings",
    )?;
    tidy::tidy(root)?;
    licences(root)?;
    test(root)
}

/// All tests of the workspace, then the suite end to end: real processes and containers, a real
/// Elasticsearch, real JDKs, and a report.
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    let was_there = docker::docker_engine(docker::Action::Status).is_ok();
    let result = everything(root);
    // An engine that was started for the tests ends with them.
    if !was_there && let Err(error) = docker::docker_engine(docker::Action::Stop) {
        say(&format!("NOT STOPPED: Docker: {error:#}"));
    }
    result
}

fn everything(root: &Path) -> anyhow::Result<()> {
    let docker = docker::docker_engine(docker::Action::Start).and_then(|()| {
        // Contenders whose base cannot be made fail below by name; the others are still checked.
        base_images::base_images()
    });
    let mut said = Vec::new();
    if let Err(error) = packages() {
        said.push(format!("NOT INSTALLED: what contenders need: {error:#}"));
    }
    if let Err(error) = &docker {
        said.push(format!("NOT TESTED: Docker: {error:#}"));
    }
    run_with(root, "cargo test --workspace", &switches(docker.is_ok()))?;
    run(root, "cargo build --release --package bakeoff")?;
    let mut all = contenders(root)?;
    if let Err(error) = run(root, OLD_COMPILER) {
        all.retain(|name| name != OLD_CONTENDER);
        said.push(format!("NOT TESTED: {OLD_CONTENDER}: {error:#}"));
    }
    verify(root, "process", all.iter().map(String::as_str))?;
    if docker.is_ok() {
        verify(root, "docker", MAIN_ROUND)?;
    }
    let results = tempfile::tempdir().context("no folder for temporary files")?;
    let results = results.path().join("smoke").display().to_string();
    bakeoff(
        root,
        &format!("run {SUITE} --profile smoke --backend elasticsearch --out {results}"),
    )?;
    for line in said {
        say(&line);
    }
    say("end to end: verified and measured, see above");
    Ok(())
}

/// The variables that switch tests of real things on.
fn switches(docker: bool) -> Vec<(&'static str, &'static str)> {
    let mut switches = vec![("BAKEOFF_TEST_ELASTICSEARCH", "1")];
    if docker {
        switches.push(("BAKEOFF_TEST_DOCKER", "1"));
    }
    switches
}

/// Installs what is missing of what contenders need.
fn packages() -> anyhow::Result<()> {
    let missing = PACKAGES
        .iter()
        .filter(|(_, file)| !Path::new(file).exists());
    let missing: Vec<&str> = missing.map(|(package, _)| *package).collect();
    match missing.as_slice() {
        [] => Ok(()),
        missing => docker::install(missing),
    }
}

/// The contenders of the suite, one of each folder: what bears the folder's own name.
fn contenders(root: &Path) -> anyhow::Result<Vec<String>> {
    let folder = root.join(SUITE).join("contenders");
    let entries = fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let folders = entries.flatten().map(|entry| entry.path());
    let mut names: Vec<String> = folders
        .filter(|path| path.join("contender.toml").is_file())
        .filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    Ok(names)
}

/// All checks of some contenders against a real Elasticsearch.
fn verify<'a>(
    root: &Path,
    runtime: &str,
    contenders: impl IntoIterator<Item = &'a str>,
) -> anyhow::Result<()> {
    let chosen: String = contenders
        .into_iter()
        .map(|name| format!(" --contender {name}"))
        .collect();
    let options = format!("--runtime {runtime} --backend elasticsearch{chosen}");
    bakeoff(root, &format!("verify {SUITE} {options}"))
}

/// Writes the JSON Schemas.
pub(crate) fn schema(root: &Path) -> anyhow::Result<()> {
    run(
        root,
        "cargo run --quiet --package bakeoff -- schema --write docs/schema",
    )
}

/// cargo-deny is not everywhere; where it is missing, that is said and nothing is pretended.
fn licences(root: &Path) -> anyhow::Result<()> {
    let version = Command::new("cargo").args(["deny", "--version"]).output();
    if version.is_ok_and(|output| output.status.success()) {
        return run(root, "cargo deny check licenses bans sources");
    }
    say("NOT CHECKED: licences of dependencies (cargo install --locked cargo-deny)");
    Ok(())
}

fn bakeoff(root: &Path, arguments: &str) -> anyhow::Result<()> {
    run(
        root,
        &format!("cargo run --quiet --release --package bakeoff -- {arguments}"),
    )
}

/// Runs a command in the workspace's root, says which, and fails when it does.
fn run(root: &Path, line: &str) -> anyhow::Result<()> {
    run_with(root, line, &[])
}

fn run_with(root: &Path, line: &str, env: &[(&str, &str)]) -> anyhow::Result<()> {
    say(&format!("+ {line}"));
    let mut words = line.split(' ');
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .envs(env.iter().copied())
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        bail!("{line}: {status}");
    }
    Ok(())
}
