//! A dependency at work: the service that a suite describes, with its commands.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use bakeoff_base::hint::with_hints;
use bakeoff_base::problem::Problem;
use bakeoff_build::LoggedCommand;
use bakeoff_build::log::last_lines;
use bakeoff_model::measure::resource::ResourceSample;
use bakeoff_model::suite::dependency::{Dependency, Ready};

use crate::services::ended;
use crate::services::readiness::await_ready;
use crate::services::service::{Service, Setting};
use crate::{BoxFuture, Instance, StopReport};

/// How long a dependency may take to stop.
const STOP_GRACE: Duration = Duration::from_secs(10);
/// How long a command that fills or resets a dependency may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(300);

/// A dependency that was started, and its address.
pub(crate) struct Launched {
    pub(crate) instance: Box<dyn Instance>,
    /// Where contenders reach the dependency.
    pub(crate) address: SocketAddr,
    /// Where its commands, which run on this host, reach it.
    pub(crate) from_here: SocketAddr,
    /// A forwarded port that leads there from here until it is dropped; `None` if there is none.
    pub(crate) _way: Option<Box<dyn Send + Sync>>,
}

/// A dependency that is filled.
pub(crate) struct RunningDependency {
    name: String,
    launched: Launched,
    commands: Commands,
    /// The end of the dependency is no failure.
    has_to_end: bool,
    /// The command that restores the dependency's data.
    reset: Vec<String>,
}

/// How the commands of a dependency run.
struct Commands {
    /// Folder of the suite.
    folder: PathBuf,
    /// Where their output goes.
    log: PathBuf,
    address: SocketAddr,
}

/// Waits until a dependency is ready, and fills it. If that fails, it is stopped.
pub(crate) async fn fill(
    mut launched: Launched,
    wanted: &Dependency,
    setting: &Setting<'_>,
) -> anyhow::Result<Box<dyn Service>> {
    let commands = Commands {
        folder: setting.suite.to_owned(),
        log: { setting.logs }.join(format!("dependency-{}.commands.log", wanted.name)),
        address: launched.from_here,
    };
    let filled =
        match await_ready(launched.instance.as_mut(), launched.address.port(), wanted).await {
            Ok(()) => commands.run(&wanted.setup).await.map_err(|error| {
                let log = last_lines(&launched.instance.logs());
                let log = Some(log).filter(|log| !log.is_empty());
                Problem::new(format_args!("{error:#}")).with_evidence(log.unwrap_or_default())
            }),
            Err(problem) => Err(problem),
        };
    if let Err(problem) = filled {
        launched.instance.stop(STOP_GRACE).await;
        return Err(with_hints(problem));
    }
    Ok(Box::new(RunningDependency {
        name: wanted.name.clone(),
        launched,
        commands,
        has_to_end: wanted.ready == Ready::Completed,
        reset: wanted.reset.clone(),
    }))
}

impl Commands {
    /// Runs a command; an empty one does nothing.
    async fn run(&self, words: &[String]) -> anyhow::Result<()> {
        if words.is_empty() {
            return Ok(());
        }
        let env = BTreeMap::from([
            ("DEPENDENCY_HOST".to_owned(), self.address.ip().to_string()),
            (
                "DEPENDENCY_PORT".to_owned(),
                self.address.port().to_string(),
            ),
        ]);
        let command = LoggedCommand {
            words,
            env: &env,
            folder: &self.folder,
            log: &self.log,
            limit: COMMAND_LIMIT,
        };
        let line = words.join(" ");
        let ended = command.run().await;
        ended.map_err(|why| anyhow!("`{line}` {why}:\n{}", command.last_lines()))
    }
}

impl Service for RunningDependency {
    fn address(&self) -> SocketAddr {
        self.launched.address
    }

    fn sample(&self) -> BoxFuture<'_, ResourceSample> {
        Box::pin(async {
            let own = self.launched.instance.sample().await.resources;
            ResourceSample {
                at_ns: own.at_ns,
                cpu: own.cpu,
                memory: own.memory,
                ..ResourceSample::default()
            }
        })
    }

    fn is_done(&self) -> bool {
        self.has_to_end
    }

    fn ended(&self) -> BoxFuture<'_, Option<Problem>> {
        Box::pin(async {
            if self.has_to_end {
                return None;
            }
            let exit = self.launched.instance.exited().await?;
            let what = format!("dependency {}", self.name);
            Some(ended(&what, exit, &self.launched.instance.logs()))
        })
    }

    fn reset<'a>(&'a self, _contender: &'a str) -> BoxFuture<'a, Result<(), Problem>> {
        Box::pin(async {
            let restored = self.commands.run(&self.reset).await;
            let restored =
                restored.with_context(|| format!("dependency {} cannot be reset", self.name));
            restored.map_err(|error| format!("{error:#}").into())
        })
    }

    fn stop(&mut self) -> BoxFuture<'_, StopReport> {
        self.launched.instance.stop(STOP_GRACE)
    }
}
