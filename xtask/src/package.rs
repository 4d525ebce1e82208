//! The crates as they would be published: packaged, installed into an empty prefix, and run there.
//! Only this finds files of the repository that a package lacks.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

use crate::chores::{Chores, command};

const PACKAGE: &str = "cargo package --workspace --exclude xtask --exclude bakeoff-offline \
                       --locked --allow-dirty --no-verify";
/// The crate with the files of a suite in it, and the folders in which its package looks for them
/// (its `build.rs`).
const WORKFLOWS: &str = "crates/workflows";
const LIST: &str = "src/init/locations.files";
const SUITE: &str = "suites/locations";
const COPIES: &str = "bundled";
/// As the workspace's own, so that dependencies are not compiled once more.
const DEBUG: &str = "profile.dev.debug=\"line-tables-only\"";

/// Packages all crates and tries the program that is made of them.
pub(crate) fn package(chores: &mut Chores<'_>) -> anyhow::Result<()> {
    let folder = tempfile::tempdir().context("no folder for temporary files")?;
    let (crates, prefix) = (folder.path().join("crates"), folder.path().join("prefix"));
    chores.step("crates packaged", |chores| {
        let packages = chores.root().join("target/package");
        // What an earlier version left would be taken for ours.
        for old in packaged(&packages)? {
            fs::remove_file(packages.join(old))?;
        }
        bundle(chores.root())?;
        let made = command(chores.root(), PACKAGE, &[]);
        fs::remove_dir_all(chores.root().join(WORKFLOWS).join(COPIES))?;
        made?;
        fs::create_dir_all(&crates)?;
        for name in packaged(&packages)? {
            let (file, to) = (packages.join(&name), crates.display());
            command(
                chores.root(),
                &format!("tar -xzf {} -C {to}", file.display()),
                &[],
            )?;
        }
        Ok(())
    })?;
    chores.step("packages installed into an empty prefix", |chores| {
        let (program, line) = install(&crates, &prefix)?;
        // Next to the packages: nothing of the repository may help.
        command(
            &program,
            &line,
            &[("CARGO_TARGET_DIR", &target(chores.root()))],
        )
    })?;
    chores.step("installed program", |_| {
        tried(&prefix.join("bin/bakeoff"), folder.path())
    })
}

/// Copies the files of the suite that is part of the program into its crate.
fn bundle(root: &Path) -> anyhow::Result<()> {
    let workflows = root.join(WORKFLOWS);
    for file in fs::read_to_string(workflows.join(LIST))?.lines() {
        let copy = workflows.join(COPIES).join(format!("{file}.file"));
        fs::create_dir_all(copy.parent().unwrap_or(&workflows))?;
        fs::copy(root.join(SUITE).join(file), &copy)
            .with_context(|| format!("{LIST} names {file}, which the suite lacks"))?;
    }
    Ok(())
}

fn target(root: &Path) -> String {
    root.join("target").display().to_string()
}

/// The packages in a folder.
fn packaged(folder: &Path) -> anyhow::Result<Vec<String>> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Ok(Vec::new());
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.filter_map(|name| name.into_string().ok()).collect();
    names.retain(|name| name.ends_with(".crate"));
    names.sort();
    Ok(names)
}

/// The folder of the program's package, and the command that installs it with the other packages
/// in the place of what a registry would give.
fn install(crates: &Path, prefix: &Path) -> anyhow::Result<(std::path::PathBuf, String)> {
    let mut program = None;
    let mut patches = String::new();
    for entry in fs::read_dir(crates)?.flatten() {
        let folder = entry.file_name().to_string_lossy().into_owned();
        let Some((name, _)) = folder.rsplit_once('-') else {
            continue;
        };
        if name == "bakeoff" {
            program = Some(entry.path());
        } else {
            let path = entry.path().display().to_string();
            patches.push_str(&format!(" --config patch.crates-io.{name}.path=\"{path}\""));
        }
    }
    let Some(program) = program else {
        bail!("there is no package of the program");
    };
    let line = format!(
        "cargo install --debug --path . --root {} --no-track --config {DEBUG}{patches}",
        prefix.display()
    );
    Ok((program, line))
}

/// Tries everything that must work with the program alone: a duel, a suite, the machine's
/// description.
fn tried(program: &Path, folder: &Path) -> anyhow::Result<()> {
    let name = program.display();
    command(folder, &format!("{name} doctor"), &[])?;
    command(folder, &format!("{name} init demo"), &[])?;
    command(folder, &format!("{name} init places --like locations"), &[])?;
    command(folder, &format!("{name} list places"), &[])?;
    let side = |side: &str| format!("{side}={name} null-server --listen 127.0.0.1:8089");
    duel(program, folder, &[side("one"), side("other")])
}

/// Two servers that respond at once: the program is tested, not they.
fn duel(program: &Path, folder: &Path, sides: &[String; 2]) -> anyhow::Result<()> {
    let options = "--port 8089 --get / --runs 2 --duration 1s --warm-up 500ms --connections 4";
    let status = std::process::Command::new(program)
        .arg("duel")
        .args(sides)
        .args(options.split(' '))
        .current_dir(folder)
        .status()
        .context("cannot run the installed program")?;
    if !status.success() {
        bail!("duel of the installed program: {status}");
    }
    Ok(())
}
