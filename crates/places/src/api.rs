//! The interface of every runtime: starts a process group under limits, samples it, stops it.
//!
//! The traits are object-safe, so that a session holds whichever runtime the user chose, and so
//! that tests of the session hold a fake.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::Duration;

use bakeoff_base::problem::Problem;
use bakeoff_model::load::CpuCounter;
use bakeoff_model::measure::resource::{HostTime, ResourceSample};
use bakeoff_model::record::Startup;
use bakeoff_model::record::failure::{Failure, Stage};
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};
use bakeoff_model::suite::container::{ContainerSettings, Healthcheck};
use bakeoff_model::text::service_url::ServiceUrl;
use serde::{Deserialize, Serialize};

use crate::Wire;

/// A future behind a pointer: what an object-safe trait can return.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Everything needed to start one process group under limits.
#[derive(Debug, Clone, PartialEq)]
pub struct StartSpec {
    /// Names the cgroup, the container and the messages: `http4k-3/undertow`.
    pub label: String,
    /// The command with every placeholder resolved; for a container, as seen inside the image, and
    /// empty if the image's own entry point is meant.
    pub command: Vec<String>,
    /// The complete environment: only `PATH`, `HOME`, `LANG` and `TMPDIR` are inherited in
    /// addition.
    pub env: BTreeMap<String, String>,
    /// Replace the arguments of the image's entry point; empty to leave them as they are.
    pub arguments: Vec<String>,
    /// The folder in which the command starts; empty if the image says it.
    pub workdir: PathBuf,
    /// The limits.
    pub limits: Limits,
    /// Cores that the group may use; empty = all.
    pub cores: Vec<usize>,
    /// The port on which the group will listen.
    pub port: u16,
    /// The path asked until the first valid response (200, 404 or a redirect); empty if a
    /// connection suffices.
    pub ready_path: String,
    /// How long that may take.
    pub start_timeout: Duration,
    /// The image; `None` for a local process.
    pub image: Option<String>,
    /// The service that runs already; `None` for what is started.
    pub service: Option<ServiceUrl>,
    /// The options of a container alone.
    pub container: ContainerOptions,
    /// The protocols that the group speaks.
    pub wire: Wire,
    /// The file for the group's standard output and standard error.
    pub log_path: PathBuf,
}

/// The options of a container alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ContainerOptions {
    /// The name by which containers of the session reach it; `None` if they need none.
    pub alias: Option<String>,
    /// Files and folders of this host that it can read, by the paths at which it sees them.
    pub volumes: Vec<(PathBuf, String)>,
    /// How it is started besides.
    pub settings: ContainerSettings,
    /// The check by which it is healthy; that of its image unless given.
    pub healthcheck: Option<Healthcheck>,
    /// Whether it takes turns with others that are alive concurrently.
    pub takes_turns: bool,
}

/// A way to start process groups.
pub trait Runtime: Send + Sync {
    /// Starts a group. Returns as soon as it exists; [`Instance::await_ready`] waits for it.
    ///
    /// # Errors
    /// The port is taken, or the group cannot be made.
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>>;

    /// How limits are enforced.
    fn enforcement(&self) -> Enforcement;

    /// How the traffic travels.
    fn traffic_path(&self) -> TrafficPath;

    /// Removes what dead sessions left behind, and says what that was, one line a thing.
    ///
    /// # Errors
    /// Something of a dead session could not be removed.
    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>>;

    /// Gives back what was made for the session, and waits until it is gone.
    ///
    /// # Errors
    /// It is still there; the sweep of the next session finds it.
    fn end(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }
}

/// One reading of a process group and of its host, both taken now: neither is of another moment or
/// of another host.
#[derive(Debug, Clone, Default)]
pub struct Sampled {
    /// The cost of the group so far.
    pub resources: ResourceSample,
    /// The times of its host's cores so far; `None` if the host does not say.
    pub host: Option<HostTime>,
}

impl Sampled {
    /// Of a group on this host.
    pub(crate) fn here(resources: ResourceSample) -> Self {
        Self {
            resources,
            host: crate::host::time(),
        }
    }
}

/// The outcome of health checks so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The state that follows from them.
    pub state: HealthState,
    /// The output of the last check; empty before the first one.
    pub last: String,
}

/// The state that follows from health checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HealthState {
    /// No check has succeeded yet, and more may follow.
    Starting,
    /// The last check succeeded.
    Healthy,
    /// As many checks in a row have failed as may fail.
    Unhealthy,
}

/// A started process group. Dropping it kills it, as far as a drop can.
pub trait Instance: Send + Sync {
    /// Returns the address of the group.
    fn address(&self) -> SocketAddr;

    /// Returns the name for `Host` in requests [default: the address].
    fn host(&self) -> Option<&str> {
        None
    }

    /// The network device of this host that leads to it and to nothing outside of this host; `None`
    /// if there is none, as on loopback and on other hosts. What is bound to the device stays here,
    /// also after the service has ended.
    fn device(&self) -> Option<&str> {
        None
    }

    /// Returns the protocols that the group speaks.
    fn wire(&self) -> Wire {
        Wire::default()
    }

    /// Waits for the first valid response on the ready path. Call it once, right after the start:
    /// its polling is what times the start.
    ///
    /// # Errors
    /// The group exited, nothing listened, or the response was not HTTP.
    fn await_ready(&mut self, limit: Duration) -> BoxFuture<'_, Result<Startup, ReadyError>>;

    /// Returns the cost of the group so far, and the times of the cores under it. A value that
    /// cannot be read is absent.
    fn sample(&self) -> BoxFuture<'_, Sampled>;

    /// Returns the counter from which a process of this host can read the CPU time of the group at
    /// any moment; `None` if there is none.
    fn cpu_counter(&self) -> Option<CpuCounter> {
        None
    }

    /// How the main process ended; `None` while it lives. Does not wait.
    fn exited(&self) -> BoxFuture<'_, Option<ExitInfo>>;

    /// Why its platform ended it: a cluster that evicts. `None` when it ended by itself, or
    /// lives.
    fn ended_because(&self) -> Option<String> {
        None
    }

    /// Returns what the health check of the group says; `None` if it has none, or if that is not
    /// known here.
    fn health(&self) -> BoxFuture<'_, Option<Health>> {
        Box::pin(async { None })
    }

    /// Asks the group to stop, waits for `grace`, then kills it and removes what held it.
    /// Stopping a group that has ended already reports that end.
    fn stop(&mut self, grace: Duration) -> BoxFuture<'_, StopReport>;

    /// Returns the processes of the group, by their numbers on this host; none if they are not
    /// visible.
    fn processes(&self) -> Vec<u32> {
        Vec::new()
    }

    /// Returns at most the last 64 KiB of the group's output.
    fn logs(&self) -> String;

    /// Returns the path of the group's log.
    fn log_path(&self) -> &Path;

    /// Returns the contents of a file that the group writes, by the path that it sees; `None` if
    /// the file cannot be read from here.
    fn file(&self, path: &Path) -> Option<String> {
        let _ = path;
        None
    }

    /// Returns the size of the image, bytes; `None` if there is no image.
    fn image_bytes(&self) -> Option<u64> {
        None
    }
}

/// How a main process ended. Without code and signal, it is not known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExitInfo {
    /// Exit code of the process, unless a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended the process.
    pub signal: Option<i32>,
    /// Whether the kernel killed a process of the group because its memory limit was reached.
    pub oom_killed: bool,
}

impl fmt::Display for ExitInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "exited with code {code}")?,
            (None, Some(signal)) => write!(f, "was ended by signal {signal}")?,
            (None, None) => write!(f, "ended")?,
        }
        if self.oom_killed {
            write!(f, ", out of memory")?;
        }
        Ok(())
    }
}

/// How a stop went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StopReport {
    /// Whether it ended by itself within the grace period, after the request to end.
    pub graceful: bool,
    /// From the request to the end.
    pub took: Duration,
    /// How the main process ended.
    pub exit: ExitInfo,
    /// Whether the group had to be killed.
    pub killed: bool,
}

impl StopReport {
    /// Returns the report on something that was left as it is.
    pub(crate) fn nothing() -> Self {
        Self {
            graceful: true,
            took: Duration::ZERO,
            exit: ExitInfo::default(),
            killed: false,
        }
    }
}

/// Why a group could not be started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum StartError {
    /// Another process listens on the port.
    #[error("{label}: port {port} is already in use{}", by(.listener))]
    PortInUse {
        /// The group.
        label: String,
        /// The port.
        port: u16,
        /// The process that listens on the port, if it can be determined.
        listener: Option<String>,
    },
    /// The command of the group names no program.
    #[error("{label}: cannot execute {program}: there is no such program")]
    NoProgram {
        /// The group.
        label: String,
        /// The program, as the command names it.
        program: String,
    },
    /// The group could not be made or its command not be executed.
    #[error("{0}")]
    Failed(Problem),
    /// The host or a tool failed: that says nothing about the group.
    #[error("{0}")]
    Host(Problem),
}

impl StartError {
    pub(crate) fn failed(label: &str, why: impl Into<Problem>) -> Self {
        Self::Failed(why.into().context(label))
    }

    pub(crate) fn of_host(label: &str, why: impl Into<Problem>) -> Self {
        Self::Host(why.into().context(label))
    }
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Self {
        let problem = Self::new(&error);
        match error {
            StartError::PortInUse { port, .. } => problem.with_hint(format!(
                "end whatever listens on port {port}, or use --runtime docker"
            )),
            StartError::NoProgram { program, .. } if program.contains('/') => {
                problem.with_hint("was it built? `bakeoff build` says what is missing")
            }
            StartError::NoProgram { .. } => {
                problem.with_hint("install it, or name it with its folder: ./PROGRAM")
            }
            StartError::Failed(problem) | StartError::Host(problem) => problem,
        }
    }
}

fn by(listener: &Option<String>) -> String {
    listener
        .as_ref()
        .map(|who| format!(" by {who}"))
        .unwrap_or_default()
}

/// Why a group did not become ready.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ReadyError {
    /// The main process of the group exited first.
    #[error("{label}: {exit} after {:.3} s", .after.as_secs_f64())]
    Exited {
        /// The group.
        label: String,
        /// How the main process ended.
        exit: ExitInfo,
        /// When, from the start.
        after: Duration,
        /// The last lines of the group's log.
        log: String,
    },
    /// The program was not executed, because the host or a tool failed: that says nothing about the
    /// group.
    #[error("{0}")]
    NotExecuted(Problem),
    /// No process accepted a connection.
    #[error("{label}: not ready after {} s", .limit.as_secs_f64())]
    NoListener {
        /// The group.
        label: String,
        /// How long was waited.
        limit: Duration,
        /// The address on which the group listens instead, if it can be determined.
        hint: Option<String>,
        /// The last lines of the group's log.
        log: String,
    },
    /// Something accepted connections, and no valid response came.
    #[error("{label}: no valid response after {} s: {found}", .limit.as_secs_f64())]
    NoAnswer {
        /// The group.
        label: String,
        /// How long was waited.
        limit: Duration,
        /// The last response instead.
        found: String,
        /// The last lines of the group's log.
        log: String,
    },
}

impl ReadyError {
    /// Returns the failure of the run that this error ends.
    #[must_use]
    pub fn failure(self) -> Failure {
        let oom_killed = matches!(&self, Self::Exited { exit, .. } if exit.oom_killed);
        Failure::of(Stage::Ready, self).with_oom_killed(oom_killed)
    }
}

impl From<ReadyError> for Problem {
    fn from(error: ReadyError) -> Self {
        let problem = Self::new(&error);
        match error {
            ReadyError::Exited { exit, log, .. } => problem
                .with_hints(
                    exit.oom_killed
                        .then(|| "it needs more memory than its limit allows".to_owned()),
                )
                .with_evidence(log),
            ReadyError::NotExecuted(problem) => problem,
            ReadyError::NoListener { hint, log, .. } => problem.with_hints(hint).with_evidence(log),
            ReadyError::NoAnswer { log, .. } => problem.with_evidence(log),
        }
    }
}

/// The thing that could not be removed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("cannot remove {what} of a dead session: {message}")]
pub struct SweepError {
    /// The thing.
    pub what: String,
    /// Why.
    pub message: String,
}
