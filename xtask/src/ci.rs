//! What continuous integration runs, runnable by anyone.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{base_images, docker, say, tidy};

/// The suite and the contenders that are verified for real; those of its main round.
const SUITE: &str = "suites/locations";
const CONTENDERS: [&str; 4] = ["actix-4", "axum", "http4k-3", "ktor-3"];

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
    let docker = docker::docker_engine(docker::Action::Start).and_then(|()| {
        // Contenders whose base cannot be made fail below by name; the others are still checked.
        base_images::base_images()
    });
    let mut said = Vec::new();
    if let Err(error) = &docker {
        said.push(format!("NOT TESTED: Docker: {error:#}"));
    }
    run_with(root, "cargo test --workspace", &switches(docker.is_ok()))?;
    run(root, "cargo build --release --package bakeoff")?;
    verify(root, "process")?;
    if docker.is_ok() {
        verify(root, "docker")?;
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

/// All checks of the main round's contenders against a real Elasticsearch.
fn verify(root: &Path, runtime: &str) -> anyhow::Result<()> {
    let chosen = CONTENDERS
        .map(|name| format!(" --contender {name}"))
        .concat();
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
