//! Starts a backend, whichever it is, and holds it while it works.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bakeoff_model::resource::ResourceSample;
use bakeoff_model::suite::Limits;

use crate::api::{BoxFuture, ExitInfo, Instance, Runtime, StartError, StartSpec, StopReport};
use crate::build::{BuildError, MissingToolchain};
use crate::log::last_lines;
use crate::process::ProcessRuntime;

use super::data::LoadError;
use super::delay::Delay;
use super::elasticsearch::{self, Elasticsearch};
use super::postgres::{self, Cluster, database_name};
use super::recording::{Recording, RecordingError};

/// How long the replay backend may take until it accepts connections.
const REPLAY_READY: Duration = Duration::from_secs(60);

/// Pause between two looks at a starting backend.
const POLL: Duration = Duration::from_millis(20);

/// What to start, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendOptions {
    /// Which backend.
    pub kind: BackendKind,
    /// The address to listen on: loopback for local contenders, the bridge's own address or
    /// 0.0.0.0 for contenders in containers.
    pub listen: IpAddr,
    /// The port; `None` takes any free one.
    pub port: Option<u16>,
    /// Cores that it may use; empty = all.
    pub cores: Vec<usize>,
    /// Its limits; none by default, it must not be the bottleneck.
    pub limits: Limits,
    /// Folder of its data or recordings.
    pub data: PathBuf,
    /// Where its output goes.
    pub log_path: PathBuf,
}

/// Which backend, with what only that one needs.
#[derive(Debug, Clone, PartialEq)]
pub enum BackendKind {
    /// A real Elasticsearch.
    Elasticsearch(Elasticsearch),
    /// A real PostgreSQL.
    Postgres,
    /// Recorded exchanges, answered from memory.
    Replay(ReplayProcess),
}

impl BackendKind {
    /// The name by which suites call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Elasticsearch(_) => "elasticsearch",
            Self::Postgres => "postgres",
            Self::Replay(_) => "replay",
        }
    }
}

/// How the replay backend is started: our own binary, re-executed as
/// `PROGRAM ARGS --recordings DIR --listen ADDRESS --delay DELAY --unknown FILE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayProcess {
    /// The program.
    pub program: PathBuf,
    /// Its first arguments: the sub-command.
    pub args: Vec<OsString>,
    /// How long answers are held back.
    pub delay: Delay,
}

/// Why a backend does not work.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// It could not be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// What it needs is missing.
    #[error("backend {name}: {missing}: {}", .missing.how)]
    Missing {
        /// The backend.
        name: &'static str,
        /// The toolchain.
        missing: MissingToolchain,
    },
    /// It could not be started: the port is taken, the program is not there.
    #[error(transparent)]
    Start(#[from] StartError),
    /// It ended or stayed silent instead of becoming ready.
    #[error("backend {name}: {message}")]
    NotReady {
        /// The backend.
        name: &'static str,
        /// What happened.
        message: String,
        /// Last lines of its log.
        log: String,
    },
    /// One of its own programs failed, or a file of it.
    #[error("backend {name}: {message}")]
    Failed {
        /// The backend.
        name: &'static str,
        /// What happened.
        message: String,
    },
    /// There is nothing to replay.
    #[error(transparent)]
    Recording(#[from] RecordingError),
    /// Its data could not be loaded.
    #[error("backend {name}: {error}")]
    Load {
        /// The backend.
        name: &'static str,
        /// Why.
        error: LoadError,
    },
}

impl BackendError {
    /// What to do about it, where something can be said.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Build(BuildError::Failed { hint, .. })
            | Self::Start(StartError::Failed { hint, .. }) => hint.clone(),
            Self::NotReady { log, .. } if !log.is_empty() => {
                Some(format!("last lines of its log:\n{log}"))
            }
            Self::Recording(RecordingError::Empty(_)) => {
                Some("make them with `bakeoff record`".to_owned())
            }
            _ => None,
        }
    }
}

/// A backend at work. Dropping it kills it, as far as a drop can.
pub struct Backend {
    name: &'static str,
    address: SocketAddr,
    instance: Box<dyn Instance>,
    /// Removed with it.
    scratch: Option<PathBuf>,
    unknown: Option<Unknown>,
    /// Where it holds databases of contenders.
    cluster: Option<Cluster>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Backend({} at {})", self.name, self.address)
    }
}

/// Builds (where there is something to build), starts, awaits, fills and warms a backend. When
/// this returns, contenders may call it.
///
/// # Errors
/// It does not work; whatever had been started is stopped again.
pub async fn start(
    runtime: &ProcessRuntime,
    options: &BackendOptions,
) -> Result<Backend, BackendError> {
    match &options.kind {
        BackendKind::Elasticsearch(own) => elasticsearch::start(runtime, options, own).await,
        BackendKind::Postgres => postgres::start(runtime, options).await,
        BackendKind::Replay(own) => start_replay(runtime, options, own).await,
    }
}

async fn start_replay(
    runtime: &ProcessRuntime,
    options: &BackendOptions,
    own: &ReplayProcess,
) -> Result<Backend, BackendError> {
    // Here, because a mistake in a recording is better said now than by a process's log.
    Recording::read(&options.data)?;
    let address = address(options, "replay")?;
    let unknown = runtime.folder().join(format!("unknown-{}", address.port()));
    let mut command: Vec<String> = vec![own.program.to_string_lossy().into_owned()];
    command.extend(
        own.args
            .iter()
            .map(|arg| arg.to_string_lossy().into_owned()),
    );
    let flags = [
        ("--recordings", options.data.to_string_lossy().into_owned()),
        ("--listen", address.to_string()),
        ("--delay", own.delay.to_string()),
        ("--unknown", unknown.to_string_lossy().into_owned()),
    ];
    command.extend(
        flags
            .into_iter()
            .flat_map(|(flag, value)| [flag.to_owned(), value]),
    );
    let spec = spec("replay", options, address, command);
    let mut backend = Backend::of("replay", address, runtime.start(&spec).await?);
    backend.unknown = Some(Unknown::of(&unknown));
    backend.scratch = Some(unknown);
    let listens = async |address| tokio::net::TcpStream::connect(address).await.is_ok();
    backend.await_ready(REPLAY_READY, listens).await?;
    Ok(backend)
}

/// Where a backend will listen.
pub(super) fn address(
    options: &BackendOptions,
    name: &'static str,
) -> Result<SocketAddr, BackendError> {
    if let Some(port) = options.port {
        return Ok(SocketAddr::new(options.listen, port));
    }
    // Whoever takes the port in between is reported by the start as its holder.
    let free = TcpListener::bind((options.listen, 0)).and_then(|socket| socket.local_addr());
    free.map_err(|error| {
        BackendError::Start(StartError::Failed {
            label: format!("backend {name}"),
            message: format!("cannot listen on {}: {error}", options.listen),
            hint: None,
        })
    })
}

pub(super) fn spec(
    name: &str,
    options: &BackendOptions,
    address: SocketAddr,
    command: Vec<String>,
) -> StartSpec {
    StartSpec {
        label: format!("backend-{name}"),
        command,
        env: BTreeMap::new(),
        workdir: PathBuf::from("/"),
        limits: options.limits,
        cores: options.cores.clone(),
        port: address.port(),
        ready_path: "/".to_owned(),
        start_timeout: Duration::from_secs(15),
        image: None,
        log_path: options.log_path.clone(),
    }
}

impl Backend {
    pub(super) fn of(name: &'static str, address: SocketAddr, instance: Box<dyn Instance>) -> Self {
        Self {
            name,
            address,
            instance,
            scratch: None,
            unknown: None,
            cluster: None,
        }
    }

    /// Makes a folder go with it.
    pub(super) fn with_scratch(mut self, scratch: PathBuf) -> Self {
        self.scratch = Some(scratch);
        self
    }

    pub(super) fn with_cluster(mut self, cluster: Cluster) -> Self {
        self.cluster = Some(cluster);
        self
    }

    /// Waits until `ready` says so of the address to be asked from here. On an error the backend
    /// is stopped when it is dropped.
    pub(super) async fn await_ready(
        &mut self,
        limit: Duration,
        ready: impl AsyncFn(SocketAddr) -> bool,
    ) -> Result<(), BackendError> {
        let asked = self.local_address();
        let waiting = async {
            loop {
                if let Some(exit) = self.instance.exited().await {
                    return Err(exit);
                }
                if ready(asked).await {
                    return Ok(());
                }
                tokio::time::sleep(POLL).await;
            }
        };
        let outcome = tokio::time::timeout(limit, waiting).await;
        let message = match outcome {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(exit)) => format!("it {} before it was ready", ended(exit)),
            Err(_) => format!("not ready after {} s", limit.as_secs_f64()),
        };
        Err(BackendError::NotReady {
            name: self.name,
            message,
            log: last_lines(&self.instance.logs()),
        })
    }

    /// The name by which suites call it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Where it listens, as it was asked to: 0.0.0.0 when on every address.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is to be reached from this very host.
    pub(super) fn local_address(&self) -> SocketAddr {
        let ip = self.address.ip();
        let here = if ip.is_unspecified() {
            IpAddr::V4(Ipv4Addr::LOCALHOST)
        } else {
            ip
        };
        SocketAddr::new(here, self.address.port())
    }

    /// Makes whatever this contender finds here as it was at the start: its database is empty
    /// then. Nothing to do where contenders only read.
    ///
    /// # Errors
    /// The database server refuses, or is gone.
    pub async fn prepare(&self, contender: &str) -> Result<(), BackendError> {
        match &self.cluster {
            Some(cluster) => cluster.empty(&database_name(contender)).await,
            None => Ok(()),
        }
    }

    /// What a query finds in a contender's database, a line for each row.
    ///
    /// # Errors
    /// There is no such database, or the query fails.
    pub async fn query(&self, contender: &str, query: &str) -> Result<String, BackendError> {
        match &self.cluster {
            Some(cluster) => cluster.run(&database_name(contender), query).await,
            None => Err(BackendError::Failed {
                name: self.name,
                message: "it has no databases".to_owned(),
            }),
        }
    }

    /// What it has cost up to now. A figure that cannot be read is absent.
    pub fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        self.instance.sample()
    }

    /// How it ended; `None` while it lives.
    pub async fn exited(&mut self) -> Option<ExitInfo> {
        self.instance.exited().await
    }

    /// The last 64 KiB of its output, at most.
    #[must_use]
    pub fn logs(&self) -> String {
        self.instance.logs()
    }

    /// Requests that the replay backend had no answer to since the last call, each once. Always
    /// empty for a real backend.
    #[must_use]
    pub fn unknown_requests(&self) -> Vec<String> {
        self.unknown
            .as_ref()
            .map(Unknown::new_ones)
            .unwrap_or_default()
    }

    /// Asks it to stop, kills it after `grace`, and removes its data.
    pub async fn stop(mut self, grace: Duration) -> StopReport {
        if self.instance.exited().await.is_none()
            && let Some(cluster) = &self.cluster
        {
            cluster.shut_down();
        }
        self.instance.stop(grace).await
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        let Some(scratch) = self.scratch.take() else {
            return;
        };
        // Stopped already, or killed by the drop of the instance, which comes after this one:
        // what it writes in between goes with the session's folder.
        let _ = if scratch.is_dir() {
            fs::remove_dir_all(&scratch)
        } else {
            fs::remove_file(&scratch)
        };
    }
}

fn ended(exit: ExitInfo) -> String {
    exit.to_string()
}

/// Reads the file of unknown requests on from where it was read last.
#[derive(Debug)]
struct Unknown {
    path: PathBuf,
    read: Mutex<u64>,
}

impl Unknown {
    fn of(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            read: Mutex::new(0),
        }
    }

    fn new_ones(&self) -> Vec<String> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        let mut text = String::new();
        let Ok(mut file) = fs::File::open(&self.path) else {
            return Vec::new();
        };
        let new = file
            .seek(SeekFrom::Start(*read))
            .and_then(|_| file.read_to_string(&mut text));
        if new.is_err() {
            return Vec::new();
        }
        // Half a line is left for the next time.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        *read += whole as u64;
        let requests: BTreeSet<String> = text[..whole]
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .collect();
        requests.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;
    use std::io::Write;

    use super::Unknown;

    #[test]
    fn unknown_requests_are_told_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let append = |text: &str| {
            let mut file = OpenOptions::new().append(true).open(file.path()).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        let unknown = Unknown::of(file.path());
        assert!(unknown.new_ones().is_empty());
        append("\"GET /b\"\n\"GET /a\"\n\"GET /b\"\n\"GET");
        assert_eq!(unknown.new_ones(), ["GET /a", "GET /b"]);
        append(" /c\"\n");
        assert_eq!(unknown.new_ones(), ["GET /c"]);
        assert!(unknown.new_ones().is_empty());
    }
}
