//! Recordings for the replay backend: lets contenders call the real backend through a proxy and
//! keeps the exchanges.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use bakeoff_model::request::check::{Check, CheckOutcome};
use bakeoff_model::suite::conditions::BackendName;
use bakeoff_model::suite::{Contender, Limits, Suite};
use bakeoff_places::client::HttpClient;
use bakeoff_places::contracts::{Destination, STOP_GRACE};
use bakeoff_replay::RecordingProxy;
use bakeoff_session::stages::load_run::describe;
use bakeoff_session::stages::verify;
use bakeoff_session::testbed::Testbed;
use tokio::sync::oneshot;

/// How often each request is sent, so that durations are more than one cold reading.
const ROUNDS: usize = 5;

/// The result of recording one contender.
#[derive(Debug)]
pub struct Recorded {
    /// The recording.
    pub path: PathBuf,
    /// Exchanges in the file.
    pub exchanges: usize,
    /// Exchanges that the file did not have before.
    pub new: usize,
    /// Notes for the reader, one sentence each.
    pub notes: Vec<String>,
}

/// Records one contender into the file of its folder.
///
/// # Errors
/// The contender cannot be started, gives a wrong response, or the file cannot be written.
pub async fn record(testbed: &mut Testbed, name: &str, target: &Path) -> anyhow::Result<Recorded> {
    let upstream = testbed
        .backend_socket()
        .context("the backend did not start")?;
    let contender = testbed
        .contender(name)
        .cloned()
        .context("the suite has changed")?;
    let path = target.join(format!("{}.jsonl", contender.folder));
    let listen = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    let proxy = RecordingProxy::bind(upstream, listen, &path).await?;
    testbed.redirect_contenders(proxy.address());
    let (stop, stopped) = oneshot::channel::<()>();
    let recording = tokio::spawn(proxy.record(async move {
        // Whether it was sent or its sender is gone, the proxy must end.
        let _ = stopped.await;
    }));
    let asked = record_one(testbed, &contender).await;
    drop(stop);
    let summary = recording.await??;
    asked.with_context(|| format!("{name}: not all of it was recorded"))?;
    Ok(Recorded {
        path,
        exchanges: summary.exchanges,
        new: summary.new,
        notes: summary.notes,
    })
}

/// The backend to record: the named one, else the first that is real.
#[must_use]
pub fn real_backend(suite: &Suite, named: Option<BackendName>) -> Option<BackendName> {
    let mut real = suite
        .backends
        .iter()
        .map(|one| one.name)
        .filter(|name| *name != BackendName::Replay);
    real.find(|name| named.is_none_or(|named| named == *name))
}

/// Starts a contender and asks everything that checks and benchmarks will ask.
async fn record_one(testbed: &Testbed, contender: &Contender) -> anyhow::Result<()> {
    let client = HttpClient {
        prefix: String::new(),
    };
    let spec = testbed
        .start_spec(
            contender,
            &BTreeMap::new(),
            Limits::default(),
            &contender.name.replace('/', "_"),
        )
        .map_err(|failure| anyhow::anyhow!("{}\n{}", failure.message, failure.details()))?;
    let mut instance = testbed.deps().place.runtime.start(&spec).await?;
    instance.await_ready(spec.start_timeout).await?;
    let to = Destination::of(instance.as_ref());
    let suite = testbed.suite();
    for round in 0..ROUNDS {
        for check in suite.checks.iter().cloned().chain(workload_checks(suite)) {
            let record = verify::check(&client, &to, &check).await;
            // Wrong responses must not become recordings that are then measured.
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
            body: request.body.clone(),
            expect: request.expect.clone().unwrap_or_default(),
        })
    })
}
