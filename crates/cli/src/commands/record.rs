//! `bakeoff record`: lets contenders call the real backend through a tap and keeps what was said
//! as recordings for the replay backend.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use anyhow::{Context as _, bail};
use bakeoff_model::check::{Check, CheckOutcome};
use bakeoff_model::plan;
use bakeoff_model::record::Cores;
use bakeoff_model::suite::{Contender, Limits, Suite};
use bakeoff_runtime::backend::RecordingProxy;
use tokio::sync::oneshot;

use super::bench::{Bench, BenchOptions, HttpClient};
use super::builds;
use crate::args::{RecordArgs, RuntimeKind};
use crate::progress::Progress;
use crate::session::event::{Event, Observer as _};
use crate::session::run::{START_LIMIT, STOP_GRACE, describe};
use crate::session::verify;
use crate::{exit, suite_folder};

/// How often each request is asked, so that durations are more than one cold figure.
const ROUNDS: usize = 5;

/// Runs the command.
pub(crate) fn record(args: &RecordArgs) -> anyhow::Result<u8> {
    tokio::runtime::Runtime::new()?.block_on(async {
        tokio::select! {
            status = record_all(args) => status,
            () = super::interrupted() => {
                Ok(exit::INTERRUPTED)
            }
        }
    })
}

async fn record_all(args: &RecordArgs) -> anyhow::Result<u8> {
    let folder = suite_folder::read(&args.selection.suite)?;
    let suite = folder.suite.clone();
    if args.selection.runtime != RuntimeKind::Process {
        bail!("recordings are made with local processes\n  hint: leave --runtime away");
    }
    let Some(backend) = real_backend(&suite, args.selection.backend.as_deref()) else {
        bail!("{} has no real backend to record", suite.name);
    };
    let replay = suite.backends.iter().find(|one| one.name == "replay");
    let Some(target) = replay.and_then(|one| one.data.as_ref()) else {
        bail!(
            "{} has no folder for recordings (a backend `replay` with data)",
            suite.name
        );
    };
    let target = folder.path.join(target);
    let names: Vec<String> = suite
        .contenders
        .iter()
        .map(|one| one.name.clone())
        .collect();
    let chosen =
        plan::select("contender", &names, &args.selection.contender).map_err(super::unknown)?;
    let (chosen, skipped) = builds::buildable(&suite, &chosen);
    let mut progress = Progress::stderr(false);
    for (contender, why) in skipped {
        progress.observe(&Event::Skipped { contender, why })?;
    }
    let logs = tempfile::Builder::new()
        .prefix("bakeoff-record-")
        .tempdir()?;
    let options = BenchOptions {
        runtime: args.selection.runtime.name().to_owned(),
        backend,
        profile: String::new(),
        contenders: chosen.clone(),
        cores: Cores::default(),
        seed: 0,
        slice: None,
        logs: logs.path().to_owned(),
    };
    let mut bench = Bench::prepare(folder, options, &mut progress).await?;
    for name in &chosen {
        through_proxy(&mut bench, name, &target).await?;
    }
    bench.close().await;
    Ok(exit::DONE)
}

/// Records one contender into the file of its folder.
async fn through_proxy(bench: &mut Bench, name: &str, target: &Path) -> anyhow::Result<()> {
    let upstream = bench
        .backend_socket()
        .context("the backend did not start")?;
    let contender = bench
        .contender(name)
        .cloned()
        .context("the suite has changed")?;
    let path = target.join(format!("{}.jsonl", contender.folder));
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let proxy = RecordingProxy::bind(upstream, listen, &path).await?;
    bench.redirect_contenders(proxy.address());
    let (stop, stopped) = oneshot::channel::<()>();
    let recording = tokio::spawn(proxy.record(async move {
        // Whether told to stop or forgotten, the proxy is to end.
        let _ = stopped.await;
    }));
    let asked = record_one(bench, &contender).await;
    drop(stop);
    let summary = recording.await??;
    asked.with_context(|| format!("{name}: not all of it was recorded"))?;
    let (exchanges, new) = (summary.exchanges, summary.new);
    writeln!(
        std::io::stdout(),
        "{}: {exchanges} exchanges, {new} new",
        path.display()
    )?;
    for note in summary.notes {
        writeln!(std::io::stdout(), "  note: {note}")?;
    }
    Ok(())
}

/// The backend to record: the named one, else the first that is real.
fn real_backend(suite: &Suite, named: Option<&str>) -> Option<String> {
    let mut real = suite
        .backends
        .iter()
        .map(|one| &one.name)
        .filter(|name| *name != "replay");
    real.find(|name| named.is_none_or(|named| named == *name))
        .cloned()
}

/// Starts a contender and asks everything that checks and benchmarks will ask.
async fn record_one(bench: &Bench, contender: &Contender) -> anyhow::Result<()> {
    let client = HttpClient {
        prefix: String::new(),
    };
    let spec = bench
        .start_spec(
            contender,
            &BTreeMap::new(),
            Limits::default(),
            &contender.name.replace('/', "_"),
        )
        .map_err(|why| anyhow::anyhow!("{}\n{}", why.message, why.evidence))?;
    let mut instance = bench.runtime().start(&spec).await?;
    instance.await_ready(START_LIMIT).await?;
    let suite = bench.suite();
    for round in 0..ROUNDS {
        for check in suite.checks.iter().cloned().chain(workload_checks(suite)) {
            let record = verify::check(&client, instance.address(), &check).await;
            // Wrong answers must not become recordings that are then measured.
            if round == 0 && record.outcome != CheckOutcome::Good {
                instance.stop(STOP_GRACE).await;
                bail!("a check failed: {}", describe(&record));
            }
        }
    }
    instance.stop(STOP_GRACE).await;
    Ok(())
}

/// The requests of all benchmarks as checks.
fn workload_checks(suite: &Suite) -> impl Iterator<Item = Check> + '_ {
    suite.benchmarks.iter().flat_map(|benchmark| {
        benchmark.requests.iter().map(|request| Check {
            group: benchmark.name.clone(),
            name: request.path.clone(),
            method: request.method.clone(),
            path: request.path.clone(),
            headers: request.headers.clone(),
            // Suite files are texts, and so are the bodies in them.
            body: request.body.as_text().unwrap_or_default().to_owned(),
            expect: request.expect.clone().unwrap_or_default(),
        })
    })
}
