//! A case ready to be started: a planned run with its contender's command, environment and first
//! record. Pure: building and asking the host happened before.

use std::collections::BTreeMap;

use bakeoff_model::load::RequestSpec;
use bakeoff_model::record::Begin;
use bakeoff_model::scenario::Scenario;
use bakeoff_model::suite::{Contender, Suite};
use bakeoff_runtime::StartSpec;
use std::time::Duration;

use super::Halt;

/// Everything about one run.
#[derive(Debug, Clone)]
pub(crate) struct Case {
    /// The first record.
    pub(crate) begin: Begin,
    /// How the contender is started, or why it cannot be.
    pub(crate) start: Result<StartSpec, NoStart>,
    /// What it is loaded with.
    pub(crate) requests: Vec<RequestSpec>,
    /// Makes the requests a scenario.
    pub(crate) scenario: Option<Scenario>,
    /// Length of a recorded slice.
    pub(crate) slice: Duration,
    /// Seed of the loader's random choices.
    pub(crate) seed: u64,
    /// Size of the artifact, bytes, shown where there is no image.
    pub(crate) artifact_bytes: Option<u64>,
}

impl Case {
    /// How the contender is started, or why the run ends before its start.
    pub(crate) fn startable(&self) -> Result<&StartSpec, Halt> {
        self.start.as_ref().map_err(|why| Halt::Failed {
            stage: "build",
            message: why.message.clone(),
            evidence: why.evidence.clone(),
        })
    }
}

/// Why a contender has nothing to start: its build or its image failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NoStart {
    pub(crate) message: String,
    pub(crate) evidence: String,
}

/// Where contenders reach the backend.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct BackendAddress {
    pub(crate) host: String,
    pub(crate) port: u16,
}

/// The whole environment of a contender: the suite's, then its own, then its parameters.
pub(crate) fn environment(
    suite: &Suite,
    contender: &Contender,
    parameters: &BTreeMap<String, String>,
    backend: &BackendAddress,
) -> BTreeMap<String, String> {
    suite
        .env
        .iter()
        .chain(&contender.env)
        .chain(parameters)
        .map(|(name, value)| (name.clone(), resolve(value, backend)))
        .collect()
}

/// The environment in which nothing answers behind the contender.
pub(crate) fn environment_unreachable(
    suite: &Suite,
    env: &BTreeMap<String, String>,
) -> BTreeMap<String, String> {
    let mut env = env.clone();
    env.extend(suite.env_unreachable.clone());
    env
}

fn resolve(value: &str, backend: &BackendAddress) -> String {
    value
        .replace("{backend.host}", &backend.host)
        .replace("{backend.port}", &backend.port.to_string())
}
