//! `bakeoff verify`: lifecycle and functional checks, without load.

use std::io::Write as _;

use bakeoff_base::text::printable_lines;
use bakeoff_model::plan;
use bakeoff_model::record::Cores;
use bakeoff_model::request::check::CheckOutcome;
use bakeoff_model::suite::{Limits, Suite};
use bakeoff_places::sweep::RunFolder;
use bakeoff_session::contracts::GROUP;
use bakeoff_session::selection;
use bakeoff_session::stages::load_run::describe;
use bakeoff_session::testbed::{Testbed, TestbedOptions, builds};
use bakeoff_store::event::{Event, Observer as _};
use bakeoff_store::options::SessionOptions;
use bakeoff_store::suite_folder;
use bakeoff_workflows::verification::{self, Verified, Wanted, is_bad};
use clap::Args;

use super::signals::interrupted;
use crate::args::linux::{Selection, ServerArgs};
use crate::exit;
use crate::output::session::progress::Progress;
use crate::output::session::shown::Shown;

#[derive(Debug, Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
    /// Only this group of checks (`lifecycle` too); may be repeated.
    #[arg(long, value_name = "G")]
    pub(crate) group: Vec<String>,
    /// Check the service at this address instead of starting contenders.
    #[arg(long, value_name = "PREFIX")]
    pub(crate) url: Option<String>,
    /// Profile whose limits hold.
    #[arg(long, default_value = "quick")]
    pub(crate) profile: String,
    /// Print one JSON object per contender.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Runs the command.
pub(crate) fn verify(args: &VerifyArgs) -> anyhow::Result<u8> {
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        tokio::select! {
            status = verify_all(args) => status,
            () = interrupted() => Ok(exit::INTERRUPTED),
        }
    })
}

async fn verify_all(args: &VerifyArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.selection.suite)?;
    let suite = &folder.suite;
    let wanted = Wanted::new(suite, &args.group)?;
    if let Some(url) = &args.url {
        let verified = verification::external(suite, &wanted, url).await?;
        print(&verified, args.json)?;
        return Ok(status(&[verified]));
    }
    let limits = limits(suite, &args.profile)?;
    let backend = selection::backend(suite, args.selection.backend)?;
    let backend_url = args.server.backend_url.clone();
    selection::backend_can_be_at(backend, backend_url.as_ref())?;
    let chosen = selection::contenders(suite, &args.selection.contender)?;
    let (contenders, skipped) = builds::buildable(suite, &chosen);
    let mut progress = Progress::stderr(Shown::with_json(args.json));
    for (contender, why) in &skipped {
        let (contender, why) = (contender.clone(), why.clone());
        progress.observe(&Event::Skipped { contender, why })?;
    }
    if contenders.is_empty() {
        let why: Vec<String> = skipped.into_iter().map(|(_, why)| why).collect();
        return Err(builds::none_here(&why));
    }
    let logs = RunFolder::temporary()?;
    let options = TestbedOptions {
        runtime: args.selection.runtime.into(),
        side_by_side: false,
        backend,
        profile: args.profile.clone(),
        contenders: contenders.clone(),
        cores: Cores::default(),
        seed: 0,
        session: SessionOptions {
            backend_url,
            cluster: args.selection.cluster.settings(),
            hosts: args.selection.hosts.hosts(),
            ..SessionOptions::default()
        },
        logs: logs.path().to_owned(),
    };
    let testbed = Testbed::prepare(folder.clone(), options, &mut progress).await?;
    let mut all = Vec::new();
    for contender in contenders.iter().filter_map(|name| testbed.contender(name)) {
        let verified = verification::contender(&testbed, contender, &wanted, limits).await;
        print(&verified, args.json)?;
        all.push(verified);
    }
    testbed.close().await;
    Ok(status(&all))
}

/// The limits of a profile.
pub(crate) fn limits(suite: &Suite, profile: &str) -> anyhow::Result<Limits> {
    if let Some(profile) = suite.profiles.get(profile) {
        return Ok(profile.limits);
    }
    let known: Vec<String> = suite.profiles.keys().cloned().collect();
    plan::select("profile", &known, &[profile.to_owned()]).map_err(selection::unknown)?;
    Ok(Limits::default())
}

fn status(all: &[Verified]) -> u8 {
    // Nothing checked is nothing shown: a machine without any toolchain does not pass.
    if !all.is_empty() && all.iter().all(Verified::is_good) {
        exit::DONE
    } else {
        exit::CHECK_FAILED
    }
}

fn print(verified: &Verified, as_json: bool) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    if as_json {
        writeln!(stdout, "{}", serde_json::to_string(verified)?)?;
        return Ok(());
    }
    let mut output = Vec::new();
    let good = |lifecycle: bool| {
        let of_kind = verified
            .checks
            .iter()
            .filter(|check| (check.group == GROUP) == lifecycle)
            .filter(|check| !matches!(check.outcome, CheckOutcome::NotApplicable { .. }));
        of_kind.fold((0, 0), |(good, all), check| {
            (good + usize::from(!is_bad(check)), all + 1)
        })
    };
    let (functional, all_functional) = good(false);
    let lifecycle = match good(true) {
        (_, 0) => String::new(),
        (good, all) => format!(", lifecycle {good}/{all}"),
    };
    let name = &verified.contender;
    writeln!(
        output,
        "{name}: functional {functional}/{all_functional}{lifecycle}"
    )?;
    for check in verified.checks.iter().filter(|check| is_bad(check)) {
        writeln!(output, "  FAILED {}", describe(check))?;
    }
    for check in verified.checks.iter().filter(|check| !is_bad(check)) {
        if let Some(value) = &check.value {
            writeln!(output, "  {}: {value}", check.name)?;
        }
    }
    if let Some(failure) = &verified.failure {
        writeln!(
            output,
            "  FAILED {}",
            failure.trim_end().replace('\n', "\n    ")
        )?;
    }
    let text = String::from_utf8_lossy(&output);
    Ok(write!(stdout, "{}", printable_lines(&text))?)
}
