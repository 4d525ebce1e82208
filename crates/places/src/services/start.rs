//! Starts a backend, whichever it is.

use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_replay::Recording;

use crate::local::ProcessRuntime;
use crate::services::options::{BackendKind, BackendOptions, ReplayProcess};
use crate::services::request_count::Counter;
use crate::services::running::{Backend, address, spec, started};
use crate::services::{elasticsearch, postgres};

/// How long the replay backend may take until it accepts connections.
const REPLAY_READY: Duration = Duration::from_secs(60);

/// Builds (if there is something to build), starts, awaits, fills and warms a backend. When this
/// returns, contenders may call it.
///
/// # Errors
/// It does not work; whatever had been started is stopped again.
pub async fn start(runtime: &ProcessRuntime, options: &BackendOptions) -> Result<Backend, Problem> {
    match &options.kind {
        BackendKind::Elasticsearch(own) => elasticsearch::start(runtime, options, own).await,
        BackendKind::Postgres => postgres::start(runtime, options).await,
        BackendKind::PostgresServer(url) => postgres::use_server(options, url).await,
        BackendKind::Replay(own) => start_replay(runtime, options, own).await,
    }
}

async fn start_replay(
    runtime: &ProcessRuntime,
    options: &BackendOptions,
    own: &ReplayProcess,
) -> Result<Backend, Problem> {
    // Here, because a mistake in a recording is better said now than by a process's log.
    Recording::read(&options.data)?;
    let address = address(options, "replay")?;
    let scratch = runtime.folder().join(format!("replay-{}", address.port()));
    std::fs::create_dir_all(&scratch)
        .map_err(|error| format!("backend replay: {}: {error}", scratch.display()))?;
    let (unknown, count) = (scratch.join("unknown"), scratch.join("count"));
    let mut command: Vec<String> = vec![own.program.to_string_lossy().into_owned()];
    command.extend(
        own.args
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned()),
    );
    let flags = [
        ("--recordings", options.data.to_string_lossy().into_owned()),
        ("--listen", address.to_string()),
        ("--delay", own.settings.delay.to_string()),
        ("--unknown", unknown.to_string_lossy().into_owned()),
        ("--count", count.to_string_lossy().into_owned()),
    ];
    command.extend(
        flags
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value]),
    );
    if own.settings.gzip {
        command.push("--gzip".to_owned());
    }
    if let Some(queue) = own.settings.queue {
        command.extend(["--queue".to_owned(), queue.to_string()]);
    }
    let spec = spec("replay", options, address, command);
    let mut backend = Backend::of("replay", address, started(runtime, &spec).await?)
        .with_scratch(scratch)
        .with_counter(Counter::Socket(count));
    backend.note_unknown(&unknown);
    let listens = async |address| tokio::net::TcpStream::connect(address).await.is_ok();
    backend.await_ready(REPLAY_READY, listens).await?;
    Ok(backend)
}
