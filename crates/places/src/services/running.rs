//! A backend at work: awaited, metered, queried for unknown requests, stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_build::log::last_lines;
use bakeoff_model::measure::resource::ResourceSample;

use crate::Wire;
use crate::api::{
    BoxFuture, ContainerOptions, ExitInfo, Instance, Runtime as _, StartError, StartSpec,
    StopReport,
};
use crate::local::ProcessRuntime;
use crate::services::databases::Databases;
use crate::services::options::BackendOptions;
use crate::services::request_count::Counter;
use crate::services::service::Service;
use crate::services::sessions;

/// How long a backend may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(20);
/// Pause between two looks at a starting backend.
const POLL: Duration = Duration::from_millis(20);

/// A backend at work. Dropping it kills it, as far as a drop can.
pub struct Backend {
    name: &'static str,
    /// The address on which the backend listens, as requested: 0.0.0.0 when on every address.
    listens: SocketAddr,
    /// Where contenders reach the backend.
    reached: SocketAddr,
    /// The processes of the backend; none if it runs already.
    instance: Option<Box<dyn Instance>>,
    /// Removed with the backend.
    scratch: Option<PathBuf>,
    unknown: Option<Unknown>,
    /// Where the backend's requests are counted.
    counter: Option<Counter>,
    /// The contenders' databases, if the backend holds any.
    databases: Option<Databases>,
}

impl std::fmt::Debug for Backend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Backend({} at {})", self.name, self.listens)
    }
}

/// Where a backend will listen.
pub(super) fn address(options: &BackendOptions, name: &'static str) -> Result<SocketAddr, Problem> {
    if let Some(port) = options.port {
        return Ok(SocketAddr::new(options.listen, port));
    }
    // A process that takes the port in between is reported by the start as its holder.
    let free = TcpListener::bind((options.listen, 0)).and_then(|socket| socket.local_addr());
    free.map_err(|error| {
        format!(
            "backend {name}: cannot listen on {}: {error}",
            options.listen
        )
        .into()
    })
}

/// Starts the process of a backend. A remedy that is one for contenders is none here.
pub(super) async fn started(
    runtime: &ProcessRuntime,
    spec: &StartSpec,
) -> Result<Box<dyn Instance>, Problem> {
    runtime.start(spec).await.map_err(|error| match error {
        StartError::Failed(problem) | StartError::Host(problem) => problem,
        other => Problem::new(other),
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
        arguments: Vec::new(),
        command,
        env: BTreeMap::new(),
        workdir: PathBuf::from("/"),
        limits: options.limits,
        cores: options.cores.clone(),
        port: address.port(),
        ready_path: "/".to_owned(),
        start_timeout: Duration::from_secs(15),
        image: None,
        service: None,
        container: ContainerOptions::default(),
        wire: Wire::default(),
        log_path: options.log_path.clone(),
    }
}

impl Backend {
    pub(super) fn of(name: &'static str, address: SocketAddr, instance: Box<dyn Instance>) -> Self {
        Self {
            name,
            listens: address,
            reached: address,
            instance: Some(instance),
            scratch: None,
            unknown: None,
            counter: None,
            databases: None,
        }
    }

    /// Returns a backend that runs already: nothing is known of its cost.
    pub(super) fn elsewhere(name: &'static str, address: SocketAddr) -> Self {
        Self {
            name,
            listens: address,
            reached: address,
            instance: None,
            scratch: None,
            unknown: None,
            counter: None,
            databases: None,
        }
    }

    /// Reads the requests that it had no response to from this file.
    pub(super) fn note_unknown(&mut self, file: &Path) {
        self.unknown = Some(Unknown::of(file));
    }

    pub(super) fn with_counter(mut self, counter: Counter) -> Self {
        self.counter = Some(counter);
        self
    }

    fn remove_scratch(&mut self) {
        if let Some(scratch) = self.scratch.take() {
            let _ = fs::remove_dir_all(&scratch);
        }
    }

    /// Makes a folder go with the backend.
    pub(super) fn with_scratch(mut self, scratch: PathBuf) -> Self {
        self.scratch = Some(scratch);
        self
    }

    pub(super) fn with_databases(mut self, databases: Databases) -> Self {
        self.databases = Some(databases);
        self
    }

    /// Waits until `ready` says so of the address to be asked from here. On an error the backend
    /// is stopped when it is dropped.
    pub(super) async fn await_ready(
        &mut self,
        limit: Duration,
        ready: impl AsyncFn(SocketAddr) -> bool,
    ) -> Result<(), Problem> {
        let asked = self.local_address();
        let waiting = async {
            loop {
                if let Some(exit) = self.exited().await {
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
            Ok(Err(exit)) => format!("it {exit} before it was ready"),
            Err(_) => format!("not ready after {} s", limit.as_secs_f64()),
        };
        let problem = Problem::new(message).context(format_args!("backend {}", self.name));
        Err(with_log(problem, &self.logs()))
    }

    /// Lets contenders reach it at another address than the one at which it listens.
    pub(crate) fn set_reached(&mut self, reached: SocketAddr) {
        self.reached = reached;
    }

    /// The address on which the backend listens, as requested: 0.0.0.0 when on every address.
    pub(crate) fn listens(&self) -> SocketAddr {
        self.listens
    }

    /// The address of the backend for this very host.
    pub(super) fn local_address(&self) -> SocketAddr {
        let ip = self.listens.ip();
        let here = if ip.is_unspecified() {
            IpAddr::V4(Ipv4Addr::LOCALHOST)
        } else {
            ip
        };
        SocketAddr::new(here, self.listens.port())
    }

    /// Returns how the backend ended; `None` while it lives.
    pub async fn exited(&self) -> Option<ExitInfo> {
        match &self.instance {
            Some(instance) => instance.exited().await,
            None => None,
        }
    }

    /// Returns at most the last 64 KiB of the backend's output; nothing if it runs already.
    #[must_use]
    pub fn logs(&self) -> String {
        let logs = self.instance.as_ref().map(|instance| instance.logs());
        logs.unwrap_or_default()
    }
}

impl Service for Backend {
    fn address(&self) -> SocketAddr {
        self.reached
    }

    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(async {
            let mut sample = match &self.instance {
                Some(instance) => instance.sample().await.resources,
                None => ResourceSample::default(),
            };
            if let Some(counter) = &self.counter {
                sample.requests = counter.read().await;
            }
            let server = self.databases.as_ref().and_then(Databases::process);
            sample.sessions = server.and_then(sessions::read);
            sample
        })
    }

    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(async {
            let exit = self.exited().await?;
            let what = format!("backend {}", self.name);
            Some(ended(&what, exit, &self.logs()))
        })
    }

    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        let new = self.unknown.as_ref().map(Unknown::new_ones);
        Box::pin(async { new.unwrap_or_default() })
    }

    fn databases(&self) -> Option<&Databases> {
        self.databases.as_ref()
    }

    fn stop(&mut self) -> BoxFuture<'_, StopReport> {
        Box::pin(async {
            if self.exited().await.is_none()
                && let Some(databases) = &self.databases
            {
                databases.shut_down();
            }
            let report = match &mut self.instance {
                Some(instance) => instance.stop(STOP_GRACE).await,
                None => StopReport::nothing(),
            };
            // Databases in a server that goes on are dropped with this.
            self.databases = None;
            self.remove_scratch();
            report
        })
    }
}

/// Says that something on which contenders depend has ended; `logs` is what it wrote.
#[must_use]
pub fn ended(what: &str, exit: ExitInfo, logs: &str) -> Problem {
    with_log(Problem::new(format_args!("{what} {exit}")), logs)
}

fn with_log(problem: Problem, logs: &str) -> Problem {
    let log = last_lines(logs);
    let hint = (!log.is_empty()).then(|| format!("last lines of its log:\n{log}"));
    problem.with_hints(hint)
}

impl Drop for Backend {
    fn drop(&mut self) {
        // Stopped already, or killed by the drop of the instance, which comes after this one:
        // files that it writes in between go with the session's folder.
        self.remove_scratch();
    }
}

/// The notes of a replay backend in a folder: how many requests it has completed, and which it had
/// no response to.
#[derive(Debug)]
pub(crate) struct ReplayNotes {
    counter: Counter,
    unknown: Unknown,
}

impl ReplayNotes {
    /// Names of the two files in the folder: unknown requests, count.
    pub(crate) const FILES: [&str; 2] = ["unknown", "count"];

    /// The notes of a replay backend that keeps them there.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        let [unknown, count] = Self::FILES.map(|name| folder.join(name));
        Self {
            counter: Counter::Socket(count),
            unknown: Unknown::of(&unknown),
        }
    }

    /// Requests completed up to now; `None` when it does not report them.
    pub(crate) async fn requests(&self) -> Option<u64> {
        self.counter.read().await
    }

    /// Requests that it had no response to since the last call, each once.
    pub(crate) fn unknown(&self) -> Vec<String> {
        self.unknown.new_ones()
    }
}

/// Reads the file of unknown requests, each time from the point reached before.
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
    fn each_unknown_request_is_reported_once() {
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
