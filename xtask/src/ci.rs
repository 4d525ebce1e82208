//! What continuous integration runs, runnable by anyone.

use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, bail};

use crate::{say, tidy};

/// Suites whose contenders are verified for real.
const SUITES: [&str; 1] = ["suites/locations"];

/// Format, lints, tidy, licences, then everything of [`test`].
pub(crate) fn ci(root: &Path) -> anyhow::Result<()> {
    run(root, "cargo", &["fmt", "--all", "--check"])?;
    run(root, "cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])?;
    tidy::tidy(root)?;
    licences(root)?;
    test(root)
}

/// All tests of the workspace, then the suites end to end with real backends and runtimes.
pub(crate) fn test(root: &Path) -> anyhow::Result<()> {
    run(root, "cargo", &["test", "--workspace"])?;
    end_to_end(root)
}

/// Writes the JSON Schemas.
pub(crate) fn schema(root: &Path) -> anyhow::Result<()> {
    bakeoff(root, &["schema", "--write", "docs/schema"])
}

fn end_to_end(root: &Path) -> anyhow::Result<()> {
    run(root, "cargo", &["build", "--release", "--package", "bakeoff"])?;
    for suite in SUITES {
        for runtime in ["process", "docker"] {
            bakeoff(
                root,
                &["verify", suite, "--runtime", runtime, "--backend", "elasticsearch"],
            )?;
        }
    }
    Ok(())
}

/// cargo-deny is not everywhere; where it is missing, that is said and nothing is pretended.
fn licences(root: &Path) -> anyhow::Result<()> {
    if Command::new("cargo").args(["deny", "--version"]).output().is_ok_and(|o| o.status.success()) {
        return run(root, "cargo", &["deny", "check", "licenses", "bans", "sources"]);
    }
    say("NOT CHECKED: licences of dependencies (cargo install --locked cargo-deny)");
    Ok(())
}

fn bakeoff(root: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let command = ["run", "--quiet", "--release", "--package", "bakeoff", "--"];
    run(root, "cargo", &[&command[..], arguments].concat())
}

/// Runs a command in the workspace's root, says which, and fails when it does.
pub(crate) fn run(root: &Path, program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    say(&format!("+ {program} {}", arguments.join(" ")));
    let status = Command::new(program)
        .args(arguments)
        .current_dir(root)
        .status()
        .with_context(|| format!("cannot run {program}"))?;
    if !status.success() {
        bail!("{program} {}: {status}", arguments.join(" "));
    }
    Ok(())
}
