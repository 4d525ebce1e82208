//! `bakeoff list`: everything in a suite that can be named on the command line.

use std::io::Write as _;
use std::path::PathBuf;

use bakeoff_model::suite::Suite;
use bakeoff_session::contracts::GROUP;
use bakeoff_store::suite_folder;
use clap::Args;
use serde_json::json;

use crate::exit;

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Folder of the suite.
    pub(crate) suite: PathBuf,
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command.
pub(crate) fn list(args: &ListArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.suite)?;
    let suite = &folder.suite;
    let mut output = std::io::stdout().lock();
    if args.json {
        writeln!(output, "{}", as_json(suite))?;
        return Ok(exit::DONE);
    }
    let mut section = |title: &str, lines: Vec<(String, String)>| -> std::io::Result<()> {
        writeln!(output, "{title}")?;
        let width = lines
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or(0);
        for (name, describe) in lines {
            writeln!(output, "  {name:<width$}  {describe}")?;
        }
        Ok(())
    };
    let contenders = suite
        .contenders
        .iter()
        .map(|c| (c.name.clone(), c.describe.clone()));
    section("contenders", contenders.collect())?;
    let benchmarks = suite
        .benchmarks
        .iter()
        .map(|b| (b.name.clone(), b.describe.clone()));
    section("benchmarks", benchmarks.collect())?;
    let profiles = suite
        .profiles
        .values()
        .map(|p| (p.name.clone(), p.describe.clone()));
    section("profiles", profiles.collect())?;
    let backends = suite.backends.iter().map(|backend| {
        let is_default = backend.name == suite.default_backend;
        (
            backend.name.to_string(),
            if is_default {
                "default".to_owned()
            } else {
                String::new()
            },
        )
    });
    section("backends", backends.collect())?;
    if !suite.dependencies.is_empty() {
        let dependencies = suite.dependencies.iter();
        let dependencies = dependencies.map(|one| {
            let image = one.image.clone();
            (
                one.name.clone(),
                image.unwrap_or_else(|| one.command.join(" ")),
            )
        });
        section("dependencies", dependencies.collect())?;
    }
    section("check groups", groups(suite))?;
    if !suite.rounds.is_empty() {
        let rounds = suite
            .rounds
            .iter()
            .map(|r| (r.name.clone(), r.contenders.join(", ")));
        section("rounds", rounds.collect())?;
    }
    Ok(exit::DONE)
}

/// Groups in the order of their first check, with their sizes.
fn groups(suite: &Suite) -> Vec<(String, String)> {
    let mut groups: Vec<(String, usize)> = Vec::new();
    for check in &suite.checks {
        match groups.iter_mut().find(|(name, _)| *name == check.group) {
            Some((_, count)) => *count += 1,
            None => groups.push((check.group.clone(), 1)),
        }
    }
    let lifecycle = (GROUP.to_owned(), "start, threads, logs, stop".to_owned());
    let counted = groups
        .into_iter()
        .map(|(name, count)| (name, format!("{count} checks")));
    counted.chain([lifecycle]).collect()
}

fn as_json(suite: &Suite) -> serde_json::Value {
    json!({
        "suite": suite.name,
        "contenders": suite.contenders.iter().map(|c| &c.name).collect::<Vec<_>>(),
        "benchmarks": suite.benchmarks.iter().map(|b| &b.name).collect::<Vec<_>>(),
        "profiles": suite.profiles.keys().collect::<Vec<_>>(),
        "backends": suite.backends.iter().map(|b| &b.name).collect::<Vec<_>>(),
        "dependencies": suite.dependencies.iter().map(|one| &one.name).collect::<Vec<_>>(),
        "groups": groups(suite).into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "rounds": suite.rounds.iter().map(|r| &r.name).collect::<Vec<_>>(),
    })
}
