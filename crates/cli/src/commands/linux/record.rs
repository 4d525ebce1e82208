//! `bakeoff record`: recordings for the replay backend.

use std::io::Write as _;

use anyhow::bail;
use bakeoff_base::hint::hinted;
use bakeoff_model::record::Cores;
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_places::sweep::RunFolder;
use bakeoff_session::selection;
use bakeoff_session::testbed::{Testbed, TestbedOptions, builds};
use bakeoff_store::event::{Event, Observer as _};
use bakeoff_store::options::SessionOptions;
use bakeoff_store::suite_folder;
use bakeoff_workflows::recording;
use clap::Args;

use super::signals::interrupted;
use crate::args::linux::Selection;
use crate::exit;
use crate::output::session::progress::Progress;
use crate::output::session::shown::Shown;
use crate::values::RuntimeKind;

#[derive(Debug, Args)]
pub(crate) struct RecordArgs {
    #[command(flatten)]
    pub(crate) selection: Selection,
}

/// Runs the command.
pub(crate) fn record(args: &RecordArgs) -> anyhow::Result<u8> {
    tokio::runtime::Runtime::new()?.block_on(async {
        tokio::select! {
            status = record_all(args) => status,
            () = interrupted() => Ok(exit::INTERRUPTED),
        }
    })
}

async fn record_all(args: &RecordArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.selection.suite)?;
    let suite = folder.suite.clone();
    if args.selection.runtime != RuntimeKind::Process {
        return Err(hinted(
            "recordings are made with local processes",
            "omit --runtime",
        ));
    }
    if !args.selection.hosts.hosts().is_default() {
        return Err(hinted(
            "recordings are made with processes of this host",
            "omit --contender-host and --load-host",
        ));
    }
    let Some(backend) = recording::real_backend(&suite, args.selection.backend) else {
        bail!("{} has no real backend to record", suite.name);
    };
    let replay = suite
        .backends
        .iter()
        .find(|one| one.name == BackendName::Replay);
    let Some(target) = replay.and_then(|one| one.data.as_ref()) else {
        bail!(
            "{} has no folder for recordings (a backend `replay` with data)",
            suite.name
        );
    };
    let target = folder.path.join(target);
    let chosen = selection::contenders(&suite, &args.selection.contender)?;
    let (contenders, skipped) = builds::buildable(&suite, &chosen);
    let mut progress = Progress::stderr(Shown::Sets);
    for (contender, why) in skipped {
        progress.observe(&Event::Skipped { contender, why })?;
    }
    let logs = RunFolder::temporary()?;
    let options = TestbedOptions {
        runtime: args.selection.runtime.into(),
        side_by_side: false,
        backend,
        profile: String::new(),
        contenders: contenders.clone(),
        cores: Cores::default(),
        seed: 0,
        session: SessionOptions {
            cluster: args.selection.cluster.settings(),
            ..SessionOptions::default()
        },
        logs: logs.path().to_owned(),
    };
    let mut testbed = Testbed::prepare(folder, options, &mut progress).await?;
    for name in &contenders {
        print(&recording::record(&mut testbed, name, &target).await?)?;
    }
    testbed.close().await;
    Ok(exit::DONE)
}

fn print(recorded: &recording::Recorded) -> anyhow::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(
        output,
        "{}: {} exchanges, {} new",
        recorded.path.display(),
        recorded.exchanges,
        recorded.new
    )?;
    for note in &recorded.notes {
        writeln!(output, "  note: {note}")?;
    }
    Ok(())
}
