//! A case ready to be started: a planned run with its contender's command, environment and first
//! record. Pure: building and asking the host happened before.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bakeoff_model::load::RequestSpec;
use bakeoff_model::record::Begin;
use bakeoff_model::record::failure::Failure;
use bakeoff_model::request::scenario::Scenario;
use bakeoff_model::suite::{Contender, Suite};
use bakeoff_places::StartSpec;
use bakeoff_places::place::launch::with_dependencies;
use bakeoff_places::services::database_name;

/// Everything about one run.
#[derive(Debug, Clone)]
pub struct Case {
    /// The first record.
    pub begin: Begin,
    /// How the contender is started, or why it cannot be.
    pub start: Result<StartSpec, Failure>,
    /// The requests of the case's load.
    pub requests: Vec<RequestSpec>,
    /// Makes the requests a scenario.
    pub scenario: Option<Scenario>,
    /// Length of a recorded slice.
    pub slice: Duration,
    /// Seed of the load generator's random choices.
    pub seed: u64,
    /// Size of the artifact, bytes, shown if there is no image.
    pub artifact_bytes: Option<u64>,
    /// The file that `{gc-log}` stands for in the command, as the contender sees it; `None` if no
    /// option has it.
    pub gc_log: Option<PathBuf>,
    /// The probes that are measured alone before the contender is started.
    pub probes: Vec<ReadyProbe>,
}

/// A probe of a contender, ready to be started.
#[derive(Debug, Clone)]
pub struct ReadyProbe {
    /// The name of the part of the work.
    pub name: String,
    /// The request that does the same work once.
    pub request: String,
    /// How often the probe does the work.
    pub operations: u32,
    /// How it is started: as the contender, with its own command.
    pub start: StartSpec,
}

impl Case {
    /// Returns the id of the case's run.
    pub(crate) fn run_id(&self) -> &str {
        &self.begin.run.id
    }

    /// How the contender is started, or why the run ends before its start.
    pub(crate) fn startable(&self) -> Result<&StartSpec, Failure> {
        self.start.as_ref().map_err(Clone::clone)
    }
}

/// Stands in commands for the path of the contender's log of garbage collections.
const GC_LOG: &str = "{gc-log}";

/// Whether a command asks for a log of garbage collections.
pub(crate) fn asks_for_gc_log(command: &[String]) -> bool {
    command.iter().any(|argument| argument.contains(GC_LOG))
}

/// Puts the path of a contender's log of garbage collections into its command.
pub(crate) fn fill_gc_log(command: &mut [String], path: &Path) {
    let path = path.to_string_lossy();
    for argument in command {
        *argument = argument.replace(GC_LOG, &path);
    }
}

/// Where contenders reach the backend and the dependencies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackendAddress {
    /// Address of the backend.
    pub host: String,
    /// Port of the backend.
    pub port: u16,
    /// The user that logs in, if the backend has databases; fit for a URL.
    pub user: String,
    /// The password of that user; fit for a URL.
    pub password: String,
    /// The address of each dependency, by its name.
    pub dependencies: BTreeMap<String, SocketAddr>,
}

/// The whole environment of a contender: the suite's, then its own, then the chosen variables.
pub(crate) fn environment(
    suite: &Suite,
    contender: &Contender,
    variables: &BTreeMap<String, String>,
    backend: &BackendAddress,
) -> BTreeMap<String, String> {
    suite
        .env
        .iter()
        .chain(&contender.env)
        .chain(variables)
        .map(|(name, value)| (name.clone(), resolve(value, contender, backend)))
        .collect()
}

/// The environment in which nothing responds behind the contender.
pub(crate) fn environment_unreachable(
    suite: &Suite,
    env: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut env = env.clone();
    env.extend(suite.env_unreachable.clone());
    env
}

fn resolve(value: &str, contender: &Contender, backend: &BackendAddress) -> String {
    with_dependencies(value, &backend.dependencies)
        .replace("{backend.database}", &database_name(&contender.name))
        .replace("{backend.host}", &backend.host)
        .replace("{backend.port}", &backend.port.to_string())
        .replace("{backend.user}", &backend.user)
        .replace("{backend.password}", &backend.password)
}
