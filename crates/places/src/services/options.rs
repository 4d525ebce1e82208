//! Options of a backend: the program, its address, and the cores it runs on.

use std::ffi::OsString;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use bakeoff_model::suite::{Limits, ReplaySettings};
use bakeoff_model::text::database_url::DatabaseUrl;

/// The backend to start, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct BackendOptions {
    /// Which backend.
    pub kind: BackendKind,
    /// The address to listen on: loopback for local contenders, the bridge's own address or
    /// 0.0.0.0 for contenders in containers.
    pub listen: IpAddr,
    /// The port; `None` takes any free one.
    pub port: Option<u16>,
    /// Cores that the backend may use; empty = all.
    pub cores: Vec<usize>,
    /// Limits of the backend; none by default, because it must not be the bottleneck.
    pub limits: Limits,
    /// Folder of the backend's data or recordings.
    pub data: PathBuf,
    /// The file for the backend's output.
    pub log_path: PathBuf,
}

/// Which backend, with what only that one needs.
#[derive(Debug, Clone, PartialEq)]
pub enum BackendKind {
    /// A real Elasticsearch.
    Elasticsearch(Elasticsearch),
    /// A real PostgreSQL.
    Postgres,
    /// A PostgreSQL that runs already.
    PostgresServer(DatabaseUrl),
    /// Recorded exchanges, served from memory.
    Replay(ReplayProcess),
}

/// How the replay backend is started: our own binary, re-executed as
/// `PROGRAM ARGS --recordings DIR --listen ADDRESS --delay DELAY --unknown FILE
/// --count SOCKET [--gzip] [--queue N]`.
#[derive(Debug, Clone, PartialEq)]
pub struct ReplayProcess {
    /// The program.
    pub program: PathBuf,
    /// The program's first arguments: the sub-command.
    pub args: Vec<OsString>,
    /// How the replay backend responds.
    pub settings: ReplaySettings,
}

/// The options of Elasticsearch alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Elasticsearch {
    /// Folder of the Maven module.
    pub sources: PathBuf,
    /// The cache in which Elasticsearch is built; see [`bakeoff_build::cache_dir`].
    pub cache: PathBuf,
    /// Size of the heap, MiB.
    pub heap_mib: u32,
    /// How long documents are fetched before contenders may; 25 s until it is really warm.
    pub warm_up: Duration,
}
