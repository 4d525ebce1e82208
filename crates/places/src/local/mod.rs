//! Contenders as local processes, each in a separate cgroup if permitted.

mod instance;
mod netlink;
pub(crate) mod network;
mod output;
mod shim;
pub(crate) mod sockets;
mod spawner;
mod subnet;

use std::ffi::OsString;
use std::fmt::Display;
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::{fs, io};

use bakeoff_base::problem::Problem;
use bakeoff_model::suite::Limits;
use bakeoff_model::suite::conditions::{Enforcement, TrafficPath};

use crate::api::{BoxFuture, Instance, Runtime, StartError, StartSpec, SweepError};
use crate::cgroup::{Group, Hierarchy, Version};
use crate::local::instance::{NotExecuted, ProcessInstance, StartedProcess};
use crate::local::network::Network;
use crate::local::output::Output;
use crate::local::shim::ShimArgs;
use crate::meter::Meter;
use crate::ready::monotonic_ns;
use crate::sweep::{RunFolder, sweep, unique_name};

pub use crate::local::shim::{ShimError, shim_main};

/// The variables that a contender inherits from our environment.
const INHERITED: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// How processes are started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOptions {
    /// The program that calls [`shim_main`]: our own binary.
    pub shim: PathBuf,
    /// Arguments with which it does: the hidden sub-command.
    pub shim_args: Vec<OsString>,
    /// Below which folder temporary files are put; see [`crate::sweep::run_base`].
    pub run_base: PathBuf,
}

/// Starts local processes. Make one a session; it tries its permissions once.
#[derive(Debug)]
pub struct ProcessRuntime {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    options: ProcessOptions,
    folder: RunFolder,
    /// Where groups are made, or why none can be.
    hierarchy: Result<Hierarchy, Problem>,
    /// Where each process has a separate network.
    network: Option<Network>,
}

impl ProcessRuntime {
    /// Makes the session's temporary folder, and finds out by making a group whether limits can be
    /// enforced.
    ///
    /// # Errors
    /// The temporary folder could not be made.
    pub fn new(options: ProcessOptions) -> io::Result<Self> {
        Self::with(options, Hierarchy::of_this_host(), None)
    }

    /// A runtime whose processes can be alive concurrently though they listen on the same port:
    /// each is in a separate network namespace.
    ///
    /// # Errors
    /// A sentence that says what is not permitted here, or that the temporary folder could not be
    /// made.
    pub fn side_by_side(options: ProcessOptions) -> Result<Self, Problem> {
        let network = Network::of_this_session()?;
        let runtime = Self::with(options, Hierarchy::of_this_host(), Some(network))
            .map_err(|error| format!("no folder for temporary files can be made: {error}"))?;
        Ok(runtime)
    }

    /// Whether processes can be side by side here, tried.
    ///
    /// # Errors
    /// Why not, as a clause.
    pub fn can_be_side_by_side(options: ProcessOptions) -> Result<(), Problem> {
        match Self::side_by_side(options) {
            Ok(_) => Ok(()),
            Err(_) if !rustix::process::geteuid().is_root() => {
                Err("without root contenders have no separate networks".into())
            }
            Err(reason) => {
                Err(format!("contenders have no separate networks here ({reason})").into())
            }
        }
    }

    /// Where processes that are side by side reach this host: backends listen there.
    #[must_use]
    pub fn gateway(&self) -> Option<IpAddr> {
        let network = self.inner.network.as_ref()?;
        Some(IpAddr::V4(network.gateway()))
    }

    /// A runtime that makes no groups, for hosts and tests that do without them: `reason` appears
    /// wherever the numbers do.
    ///
    /// # Errors
    /// The temporary folder could not be made.
    pub fn unlimited(options: ProcessOptions, reason: &str) -> io::Result<Self> {
        Self::with(options, Err(reason.to_owned().into()), None)
    }

    fn with(
        options: ProcessOptions,
        found: Result<Hierarchy, Problem>,
        network: Option<Network>,
    ) -> io::Result<Self> {
        let folder = RunFolder::make(&options.run_base)?;
        let hierarchy = found.and_then(|hierarchy| {
            let limits = Limits {
                cpus: Some(1.0),
                memory_bytes: Some(64 << 20),
            };
            Group::make(&hierarchy, &unique_name("probe"), limits, &[])?.remove()?;
            Ok(hierarchy)
        });
        Ok(Self {
            inner: Arc::new(Inner {
                options,
                folder,
                hierarchy,
                network,
            }),
        })
    }

    /// The session's folder for temporary files; removed with the runtime, or by the sweep of a
    /// later session.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.inner.folder.path()
    }
}

impl Runtime for ProcessRuntime {
    fn start<'a>(
        &'a self,
        spec: &'a StartSpec,
    ) -> BoxFuture<'a, Result<Box<dyn Instance>, StartError>> {
        let asked_ns = monotonic_ns();
        let (inner, spec) = (Arc::clone(&self.inner), spec.clone());
        Box::pin(async move {
            let label = spec.label.clone();
            let started = tokio::task::spawn_blocking(move || inner.start(&spec, asked_ns)).await;
            let instance = started.map_err(|error| {
                StartError::failed(&label, format!("the start task was cancelled: {error}"))
            })??;
            Ok(Box::new(instance) as Box<dyn Instance>)
        })
    }

    fn enforcement(&self) -> Enforcement {
        match &self.inner.hierarchy {
            Ok(hierarchy) => match hierarchy.version {
                Version::V1 => Enforcement::CgroupV1,
                Version::V2 => Enforcement::CgroupV2,
            },
            Err(reason) => Enforcement::Unlimited {
                reason: reason.to_string(),
            },
        }
    }

    fn traffic_path(&self) -> TrafficPath {
        match self.inner.network {
            Some(_) => TrafficPath::Veth,
            None => TrafficPath::Loopback,
        }
    }

    fn sweep(&self) -> BoxFuture<'_, Result<Vec<String>, SweepError>> {
        let inner = Arc::clone(&self.inner);
        Box::pin(async move {
            let sweeping = tokio::task::spawn_blocking(move || {
                let hierarchy = inner.hierarchy.as_ref().ok();
                sweep(&inner.options.run_base, hierarchy, |dead| {
                    network::sweep(dead)
                })
            });
            sweeping.await.map_err(|error| SweepError {
                what: "something".to_owned(),
                message: error.to_string(),
            })
        })
    }
}

impl Inner {
    /// Starts a group. Blocking, a few milliseconds.
    fn start(&self, spec: &StartSpec, asked_ns: u64) -> Result<ProcessInstance, StartError> {
        let label = &spec.label;
        let path = spec
            .env
            .get("PATH")
            .map(OsString::from)
            .or_else(|| std::env::var_os("PATH"));
        executable(spec, path)?;
        let line = self.network.as_ref().map(Network::line);
        if line.is_none() {
            port_is_free(&spec.label, spec.port)?;
        }
        let failed =
            |what: &str, why: &dyn Display| StartError::of_host(label, format!("{what}: {why}"));
        let name = unique_name(label);
        let group = match &self.hierarchy {
            Ok(hierarchy) => Some(
                Group::make(hierarchy, &name, spec.limits, &spec.cores)
                    .map_err(|message| StartError::of_host(label, message))?,
            ),
            Err(_) => None,
        };
        let stamp = self.folder.path().join(format!("{name}.stamp"));
        let order = ShimArgs {
            entrances: group.as_ref().map(Group::entrances).unwrap_or_default(),
            stamp: stamp.clone(),
            parent: std::process::id(),
            cores: spec.cores.clone(),
            network: line.clone(),
            command: spec.command.iter().map(OsString::from).collect(),
        };
        let log = format!("cannot write the log {}", spec.log_path.display());
        let (output, writer) =
            Output::to_file(&spec.log_path).map_err(|error| failed(&log, &error))?;
        let command = self.command(spec, &order, writer);
        let command = command.map_err(|error| failed("cannot pass on a pipe", &error))?;
        let child = spawner::spawn(command);
        let child = child.map_err(|error| failed("cannot start a process", &error))?;
        let created_ns = monotonic_ns();
        // Without this note a sweep still finds the group; only its hosts without groups need it.
        let _ = self.folder.note_started(child.id());
        let meter = group
            .as_ref()
            .map_or_else(|| Meter::of_tree(child.id()), Meter::of_group);
        let host = line
            .as_ref()
            .map_or(Ipv4Addr::LOCALHOST, |line| line.address);
        let mut instance = ProcessInstance::new(StartedProcess {
            label: label.clone(),
            address: SocketAddr::new(IpAddr::V4(host), spec.port),
            ready_path: spec.ready_path.clone(),
            wire: spec.wire.clone(),
            log_path: spec.log_path.clone(),
            output,
            child,
            meter,
            group,
            line,
            stamp,
            asked_ns,
            created_ns,
        });
        instance.await_network().map_err(|why| match why {
            NotExecuted::Program(why) => StartError::failed(label, why),
            NotExecuted::Host(why) => StartError::of_host(label, why),
        })?;
        Ok(instance)
    }

    fn command(&self, spec: &StartSpec, order: &ShimArgs, out: OwnedFd) -> io::Result<Command> {
        let mut command = Command::new(&self.options.shim);
        command.args(&self.options.shim_args).args(order.to_args());
        command.env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.envs(&spec.env).current_dir(&spec.workdir);
        // One pipe for both, so that lines of both keep their order.
        let err = out.try_clone()?;
        command.stdin(Stdio::null()).stdout(out).stderr(err);
        Ok(command)
    }
}

/// Says before anything is made that a command cannot be executed.
fn executable(spec: &StartSpec, path: Option<OsString>) -> Result<(), StartError> {
    let label = &spec.label;
    if !spec.workdir.is_dir() {
        let message = format!("its folder {} does not exist", spec.workdir.display());
        return Err(StartError::failed(label, message));
    }
    let Some(program) = spec.command.first() else {
        return Err(StartError::failed(label, "its command is empty".to_owned()));
    };
    let is_executable = |path: &Path| {
        fs::metadata(path)
            .is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
    };
    let found = if program.contains('/') {
        is_executable(&spec.workdir.join(program))
    } else {
        let path = path.unwrap_or_default();
        std::env::split_paths(&path).any(|folder| is_executable(&folder.join(program)))
    };
    if found {
        return Ok(());
    }
    Err(StartError::NoProgram {
        label: label.clone(),
        program: program.clone(),
    })
}

/// Another process that listens on the port would respond in the contender's place. `label` is the
/// contender.
///
/// # Errors
/// Something listens there, or it cannot be used at all.
pub fn port_is_free(label: &str, port: u16) -> Result<(), StartError> {
    let taken = sockets::listeners().into_iter().find(|listener| {
        let ip = listener.address.ip();
        listener.address.port() == port && (ip.is_loopback() || ip.is_unspecified())
    });
    let in_use = |listener| StartError::PortInUse {
        label: label.to_owned(),
        port,
        listener,
    };
    if let Some(listener) = taken {
        return Err(in_use(sockets::holder(listener.inode)));
    }
    match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(in_use(None)),
        Err(error) => {
            let hint = (error.kind() == io::ErrorKind::PermissionDenied)
                .then(|| "run as root, or use a port from 1024 on".to_owned());
            let problem = Problem::new(format_args!("port {port} cannot be used: {error}"));
            Err(StartError::failed(label, problem.with_hints(hint)))
        }
    }
}
