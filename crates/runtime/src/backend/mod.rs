//! The backends that contenders call: a real Elasticsearch, and the replay of its recordings.
//!
//! A backend is a process in a group of its own, started by the process runtime and metered like
//! a contender. It knows no benchmark and makes no verdict.

pub mod elasticsearch;
pub mod recording;
pub mod replay;
pub mod tap;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bakeoff_model::resource::ResourceSample;

use crate::api::{Instance, ReadyError, StartError};

/// How long a backend may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(20);

/// Where a backend listens and how contenders reach it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackendOptions {
    /// Address to listen on: loopback for local processes, all addresses for containers.
    pub listen: IpAddr,
    /// Address under which contenders reach it.
    pub reach: IpAddr,
    /// Cores that it may use; empty = all.
    pub cores: Vec<usize>,
    /// Folder for its log and its list of unknown requests.
    pub logs: PathBuf,
}

/// Why a backend did not start.
#[derive(Debug, thiserror::Error)]
pub enum BackendError {
    /// Its process could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Its process did not answer.
    #[error("{error}\n{}", .error.log())]
    Ready {
        /// What happened.
        error: ReadyError,
    },
    /// Its data or its program could not be made ready.
    #[error("{0}")]
    Prepare(String),
}

/// A backend at work. Dropping it kills it.
pub struct Backend {
    instance: Box<dyn Instance>,
    address: SocketAddr,
    /// Where the replay backend writes requests that it has no answer to.
    unknown_path: Option<PathBuf>,
    told: Mutex<BTreeSet<String>>,
}

impl Backend {
    fn new(instance: Box<dyn Instance>, address: SocketAddr, unknown: Option<PathBuf>) -> Self {
        Self {
            instance,
            address,
            unknown_path: unknown,
            told: Mutex::default(),
        }
    }

    /// Where contenders reach it.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What it has cost up to now.
    pub async fn sample(&self) -> ResourceSample {
        self.instance.sample().await
    }

    /// Requests without a recording that were not told before, each once.
    #[must_use]
    pub fn unknown_requests(&self) -> Vec<String> {
        let Some(path) = &self.unknown_path else {
            return Vec::new();
        };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        text.lines()
            .filter(|line| told.insert((*line).to_owned()))
            .map(str::to_owned)
            .collect()
    }

    /// Stops it.
    pub async fn stop(mut self) {
        self.instance.stop(STOP_GRACE).await;
    }
}

/// A port that nobody listens on now.
fn free_port() -> Result<u16, BackendError> {
    TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| BackendError::Prepare(format!("no free port: {error}")))
}
