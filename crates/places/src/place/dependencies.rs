//! The dependencies of a suite: started one after the other, filled, metered with the backend, and
//! brought back to their first state before each start of a contender.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use async_trait::async_trait;
use bakeoff_base::hint::hinted;
use bakeoff_base::problem::Problem;
use bakeoff_build::LoggedCommand;
use bakeoff_build::log::last_lines;
use bakeoff_model::dependency::Dependency;
use bakeoff_model::resource::{Memory, ResourceSample};
use tokio::net::TcpStream;

use crate::contracts::BackendProbe;
use crate::place::Platform;
use crate::place::backends::RunningBackend;
use crate::place::launch::Setting;
use crate::services::{Databases, ended};
use crate::{BoxFuture, Instance};

/// How long a dependency may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// Pause between two attempts to connect.
const POLL: Duration = Duration::from_millis(20);
/// How long a command that fills or resets a dependency may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(300);

/// A dependency that is at work.
struct Started {
    address: SocketAddr,
    instance: Box<dyn Instance>,
    name: String,
    /// The command that restores its data.
    reset: Vec<String>,
    /// Where the output of its commands goes.
    log: PathBuf,
}

/// The dependencies of a session, with its backend where it has one besides.
pub struct RunningDependencies {
    started: Vec<Started>,
    backend: Option<Box<dyn RunningBackend>>,
    suite: PathBuf,
}

/// Starts the dependencies in their order, and fills each before the next one starts. Those that
/// have been started are stopped when one fails.
pub async fn start(
    platform: &dyn Platform,
    wanted: &[Dependency],
    setting: &Setting<'_>,
) -> anyhow::Result<RunningDependencies> {
    let mut running = RunningDependencies {
        started: Vec::new(),
        backend: None,
        suite: setting.suite.to_owned(),
    };
    for one in wanted {
        let known = running.addresses();
        let started = start_one(platform, one, setting, &known).await;
        match started.with_context(|| format!("dependency {} does not start", one.name)) {
            Ok(started) => running.started.push(started),
            Err(error) => {
                running.stop_all().await;
                return Err(error);
            }
        }
    }
    Ok(running)
}

async fn start_one(
    platform: &dyn Platform,
    wanted: &Dependency,
    setting: &Setting<'_>,
    known: &BTreeMap<String, SocketAddr>,
) -> anyhow::Result<Started> {
    let (mut instance, address) = platform.start_dependency(wanted, setting, known).await?;
    let ready = match &wanted.ready_path {
        Some(_) => await_response(&mut *instance, wanted.start_timeout).await,
        None => await_connection(&mut *instance, wanted.start_timeout).await,
    };
    let log = setting
        .logs
        .join(format!("dependency-{}.commands.log", wanted.name));
    let filled = match ready {
        Ok(()) => run(&wanted.setup, setting.suite, address, &log).await,
        Err(error) => Err(error),
    };
    if let Err(error) = filled {
        let log = last_lines(&instance.logs());
        instance.stop(STOP_GRACE).await;
        return Err(match log.is_empty() {
            true => error,
            false => hinted(
                format_args!("{error:#}"),
                format_args!("last lines of its log:\n{log}"),
            ),
        });
    }
    Ok(Started {
        address,
        instance,
        name: wanted.name.clone(),
        reset: wanted.reset.clone(),
        log,
    })
}

async fn await_response(instance: &mut dyn Instance, limit: Duration) -> anyhow::Result<()> {
    instance.await_ready(limit).await?;
    Ok(())
}

/// Waits until it accepts a connection.
async fn await_connection(instance: &mut dyn Instance, limit: Duration) -> anyhow::Result<()> {
    let address = instance.address();
    let waiting = async {
        loop {
            if let Some(exit) = instance.exited().await {
                bail!(
                    "it {exit} before it accepted connections on port {}",
                    address.port()
                );
            }
            if TcpStream::connect(address).await.is_ok() {
                return Ok(());
            }
            tokio::time::sleep(POLL).await;
        }
    };
    let waited = tokio::time::timeout(limit, waiting).await;
    waited.unwrap_or_else(|_| {
        Err(hinted(
            format_args!(
                "it accepts no connections on port {} after {} s",
                address.port(),
                limit.as_secs()
            ),
            "`port` must be the one on which it listens; `start-timeout` gives it longer",
        ))
    })
}

/// Runs a command of a dependency in the suite's folder; an empty one does nothing. Its output goes
/// to `log`.
async fn run(
    words: &[String],
    folder: &Path,
    address: SocketAddr,
    log: &Path,
) -> anyhow::Result<()> {
    if words.is_empty() {
        return Ok(());
    }
    let env = BTreeMap::from([
        ("DEPENDENCY_HOST".to_owned(), address.ip().to_string()),
        ("DEPENDENCY_PORT".to_owned(), address.port().to_string()),
    ]);
    let command = LoggedCommand {
        words,
        env: &env,
        folder,
        log,
        limit: COMMAND_LIMIT,
    };
    let line = words.join(" ");
    let ended = command.run().await;
    ended.map_err(|why| anyhow!("`{line}` {why}:\n{}", command.last_lines()))
}

impl RunningDependencies {
    /// Returns the dependencies with the backend of the session, on which no dependency depends.
    pub fn with_backend(self, backend: Option<Box<dyn RunningBackend>>) -> Self {
        Self { backend, ..self }
    }

    async fn reset(&self) -> anyhow::Result<()> {
        for one in &self.started {
            let restored = run(&one.reset, &self.suite, one.address, &one.log).await;
            restored.with_context(|| format!("dependency {} cannot be reset", one.name))?;
        }
        Ok(())
    }

    async fn stop_all(&mut self) {
        for one in self.started.iter_mut().rev() {
            one.instance.stop(STOP_GRACE).await;
        }
    }
}

#[async_trait(?Send)]
impl RunningBackend for RunningDependencies {
    fn address(&self) -> Option<SocketAddr> {
        self.backend.as_ref()?.address()
    }

    fn databases(&self) -> Option<&Databases> {
        self.backend.as_ref()?.databases()
    }

    fn addresses(&self) -> BTreeMap<String, SocketAddr> {
        let started = self.started.iter();
        started.map(|one| (one.name.clone(), one.address)).collect()
    }

    async fn stop(mut self: Box<Self>) {
        self.stop_all().await;
        if let Some(backend) = self.backend.take() {
            backend.stop().await;
        }
    }
}

impl BackendProbe for RunningDependencies {
    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(async {
            let mut sum = match &self.backend {
                Some(backend) => Some(backend.sample().await),
                None => None,
            };
            for one in &self.started {
                let own = one.instance.sample().await.resources;
                sum = Some(match sum {
                    Some(sum) => added(sum, &own),
                    None => ResourceSample {
                        at_ns: own.at_ns,
                        cpu: own.cpu,
                        memory: own.memory,
                        ..ResourceSample::default()
                    },
                });
            }
            sum.unwrap_or_default()
        })
    }

    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(async {
            for one in &self.started {
                if let Some(exit) = one.instance.exited().await {
                    let what = format!("dependency {}", one.name);
                    return Some(ended(&what, exit, &one.instance.logs()));
                }
            }
            self.backend.as_ref()?.ended().await
        })
    }

    fn unknown_requests(&self) -> BoxFuture<'_, Vec<String>> {
        match &self.backend {
            Some(backend) => backend.unknown_requests(),
            None => Box::pin(async { Vec::new() }),
        }
    }

    fn prepare<'a>(&'a self, contender: &'a str) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async move {
            self.reset().await.map_err(|error| format!("{error:#}"))?;
            match &self.backend {
                Some(backend) => backend.prepare(contender).await,
                None => Ok(()),
            }
        })
    }

    fn query<'a>(
        &'a self,
        contender: &'a str,
        query: &'a str,
    ) -> BoxFuture<'a, Result<String, Problem>> {
        match &self.backend {
            Some(backend) => backend.query(contender, query),
            None => Box::pin(async { Err("it has no databases".into()) }),
        }
    }
}

/// CPU time and memory of both; a value that one of them does not report is absent.
fn added(sum: ResourceSample, own: &ResourceSample) -> ResourceSample {
    let cpu = sum.cpu.zip(own.cpu);
    let memory = sum.memory.zip(own.memory);
    ResourceSample {
        cpu: cpu.map(|(mut sum, own)| {
            sum += own;
            sum
        }),
        memory: memory.map(|(a, b)| Memory {
            now_bytes: a.now_bytes + b.now_bytes,
            peak_bytes: a.peak_bytes + b.peak_bytes,
            ..Memory::default()
        }),
        ..sum
    }
}
