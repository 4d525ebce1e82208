//! A check of documented commands without a machine: everything that a command names exists, and
//! its plan can be made, whatever the host can do.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use bakeoff_base::problem::Problem;
use bakeoff_model::plan::Plan;
use bakeoff_model::suite::Suite;
use bakeoff_model::suite::conditions::RuntimeKind;
use bakeoff_places::abilities::Abilities;
use bakeoff_session::opening::{NewSession, SessionRequest};
use bakeoff_session::{selection, turn_requirements};
use bakeoff_store::{results, suite_folder};
use bakeoff_workflows::verification::Wanted;

use super::is_placeholder;
use crate::args::linux::{AskedArgs, Selection};
use crate::cli::linux::{Measure, Part, Prepare};
use crate::cli::{Cli, Command};
use crate::commands::linux::plan::{self, PlanArgs};
use crate::commands::linux::up::UpArgs;
use crate::commands::linux::verify::{self, VerifyArgs};
use crate::commands::linux::{bisect, duel, load, run, size};

/// Hosts with little and with much memory.
const MEMORY_BYTES: [u64; 2] = [1 << 30, 64 << 30];

/// Plans a command in the repository's folder; `false` for one that plans nothing, or is about
/// something that is not in the repository.
pub(super) fn plan(cli: Cli, root: &Path) -> anyhow::Result<bool> {
    let suite = |folder: &Path| suite(root, folder);
    match cli.command {
        Command::Measure(Measure::Run(args)) if args.resume.is_none() => {
            let SessionRequest::Begin(folder, new) = run::order(*args) else {
                return Ok(false);
            };
            with(suite(&folder)?, |suite| session(suite, *new))
        }
        Command::Part(Part::Plan(args)) => with(suite(&args.measured.selection.suite)?, |suite| {
            planned(suite, &args)
        }),
        Command::Part(Part::Verify(args)) => with(suite(&args.selection.suite)?, |suite| {
            verified(suite, &args)
        }),
        Command::Part(Part::Up(args)) => with(suite(&args.suite)?, |suite| up(suite, &args)),
        Command::Prepare(Prepare::Record(args)) => with(suite(&args.selection.suite)?, |suite| {
            selected(suite, &args.selection)
        }),
        Command::Part(Part::Build(args)) => with(suite(&args.suite)?, |suite| {
            contenders(suite, &args.contender)
        }),
        Command::Part(Part::List(args)) => with(suite(&args.suite)?, |_| Ok(())),
        Command::Part(Part::Load(args)) if !is_placeholder(&args.url) && args.url != "-" => {
            let has_port = args.url.contains("://") && !args.url.contains("//HOST");
            // Descriptions of messages and captures are the reader's own.
            let can_be_planned = has_port && args.proto.is_empty() && args.captured.is_none();
            if can_be_planned && !args.capacity.is_empty() {
                load::capacity::wanted(&args)?;
            }
            if can_be_planned {
                load::spec::spec(&args)?;
            }
            Ok(can_be_planned)
        }
        Command::Measure(Measure::Duel(args)) => {
            let is_example = reads_requests(&args.asked)
                || args.sides.iter().any(|side| is_placeholder(&side.0.name));
            if !is_example {
                duel::wanted(&args)?.validate()?;
            }
            Ok(!is_example)
        }
        Command::Measure(Measure::Bisect(args)) => {
            if !reads_requests(&args.asked) {
                bisect::order(&args)?;
            }
            // Commits are the reader's own.
            Ok(false)
        }
        Command::Measure(Measure::Size(args)) => {
            if !reads_requests(&args.asked) {
                size::order(&args)?;
            }
            // The service is the reader's own.
            Ok(false)
        }
        Command::Rank(args) => recorded(root, &[args.results]),
        Command::Report(args) => recorded(root, &args.results),
        Command::Compare(args) => recorded(root, &[args.first, args.second]),
        _ => Ok(false),
    }
}

/// Whether requests or messages are read from a file or a URL, which is the reader's own.
fn reads_requests(asked: &AskedArgs) -> bool {
    let source = &asked.imported.source;
    !asked.proto.is_empty()
        || source.requests.is_some()
        || source.har.is_some()
        || source.captured.is_some()
        || source.openapi.is_some()
}

/// Returns the suite of a folder, if it is one of this repository.
fn suite(root: &Path, folder: &Path) -> anyhow::Result<Option<Suite>> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let is_ours = folder.starts_with("suites") && !is_placeholder(&name);
    is_ours
        .then(|| suite_folder::read(&root.join(folder)))
        .transpose()
        .map(|folder| folder.map(|folder| folder.suite))
}

fn with(
    suite: Option<Suite>,
    check: impl FnOnce(&Suite) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    suite
        .as_ref()
        .map(check)
        .transpose()
        .map(|done| done.is_some())
}

/// Everything that a host of this runtime may be able to do.
fn hosts(runtime: RuntimeKind) -> Vec<Abilities> {
    let concurrent = match runtime {
        RuntimeKind::Process => vec![Ok(()), Err("there is no root".into())],
        RuntimeKind::Kubernetes => vec![Ok(()), Err("there are several load Pods".into())],
        RuntimeKind::Docker | RuntimeKind::External => vec![Ok(())],
    };
    let of = |concurrent: &Result<(), Problem>| {
        let concurrent = concurrent.clone();
        MEMORY_BYTES.map(|memory_bytes| Abilities {
            concurrent: concurrent.clone(),
            memory_bytes: (runtime != RuntimeKind::Kubernetes).then_some(memory_bytes),
        })
    };
    concurrent.iter().flat_map(of).collect()
}

fn can_be_made(plan: &Plan, host: &Abilities, suite: &Suite) -> anyhow::Result<()> {
    ensure!(!plan.runs.is_empty(), "nothing would be run");
    match turn_requirements::obstacle(plan, host, suite) {
        Some(obstacle) => bail!("there can be no turns: {obstacle}"),
        None => Ok(()),
    }
}

fn session(suite: &Suite, new: NewSession) -> anyhow::Result<()> {
    let named = new.round.as_deref();
    let all = named.map_or_else(Vec::new, |name| selection::several_rounds(suite, name));
    let rounds = all.iter().filter(|round| !round.contenders.is_empty());
    let of_rounds = rounds.map(|round| NewSession {
        round: Some(round.name.clone()),
        ..new.clone()
    });
    let mut sessions: Vec<NewSession> = of_rounds.collect();
    if sessions.is_empty() {
        sessions.push(new);
    }
    for new in sessions {
        let (_, options) = new.chosen(suite)?;
        let hosts = hosts(options.runtime);
        for host in &hosts {
            let (plan, _) = turn_requirements::planned(suite, &options, host, |_| Vec::new())?;
            can_be_made(&plan, host, suite)?;
        }
        if new.baseline.is_some() && hosts.iter().all(|host| host.concurrent.is_err()) {
            bail!("head and base are compared in turns");
        }
    }
    Ok(())
}

fn planned(suite: &Suite, args: &PlanArgs) -> anyhow::Result<()> {
    let named = args.round.as_deref();
    let mut rounds = named.map_or_else(Vec::new, |name| selection::several_rounds(suite, name));
    if rounds.is_empty() {
        rounds.extend(match named {
            Some(name) => Some(selection::round(suite, name)?),
            None => selection::main_round(suite),
        });
    }
    for host in hosts(args.measured.selection.runtime.into()) {
        for round in &rounds {
            let plan = plan::planned(suite, args, Some(round), &host)?;
            can_be_made(&plan, &host, suite)?;
        }
    }
    Ok(())
}

fn contenders(suite: &Suite, globs: &[String]) -> anyhow::Result<()> {
    let chosen = globs.iter().filter(|glob| !is_placeholder(glob));
    let chosen: Vec<String> = chosen.cloned().collect();
    selection::contenders(suite, &chosen).map(drop)
}

fn selected(suite: &Suite, chosen: &Selection) -> anyhow::Result<()> {
    selection::backend(suite, chosen.backend)?;
    contenders(suite, &chosen.contender)
}

fn verified(suite: &Suite, args: &VerifyArgs) -> anyhow::Result<()> {
    selected(suite, &args.selection)?;
    verify::limits(suite, &args.profile)?;
    Wanted::new(suite, &args.group).map(drop)
}

fn up(suite: &Suite, args: &UpArgs) -> anyhow::Result<()> {
    selection::backend(suite, args.backend)?;
    verify::limits(suite, &args.profile)?;
    contenders(suite, std::slice::from_ref(&args.contender))
}

/// Whether these are results of this repository.
fn recorded(root: &Path, folders: &[PathBuf]) -> anyhow::Result<bool> {
    let ours = folders
        .iter()
        .filter(|folder| folder.starts_with("records"));
    let ours: Vec<PathBuf> = ours.map(|folder| root.join(folder)).collect();
    for folder in &ours {
        let entries = folder.read_dir().context("there is no such folder")?;
        let rounds = entries.flatten().map(|entry| entry.path());
        let mut all = rounds.chain([folder.clone()]);
        ensure!(
            all.any(|one| results::has_records(&one)),
            "no results there"
        );
    }
    Ok(!ours.is_empty())
}
