//! The parameters of a case: what the contender was given of its matrix, and of the CPU.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// The name of the CPU quota in files and labels. No variable of a contender can have it.
const CPU_LIMIT: &str = "cpu-limit";

/// The combination of values with which a contender is measured. In files it is one map from names
/// to values, in which the CPU quota is called `cpu-limit`.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "BTreeMap<String, String>", into = "BTreeMap<String, String>")]
pub struct Parameters {
    /// Variables of the contender's matrix with the chosen values.
    pub variables: BTreeMap<String, String>,
    /// The CPU quota; `None` unless the profile has several.
    pub cpus: Option<CpuQuota>,
}

impl Parameters {
    /// Whether the contender has one case only.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns all of them by name, as people see them.
    #[must_use]
    pub fn by_name(&self) -> BTreeMap<String, String> {
        let cpus = self
            .cpus
            .map(|cpus| (CPU_LIMIT.to_owned(), cpus.to_string()));
        self.variables.clone().into_iter().chain(cpus).collect()
    }
}

impl From<BTreeMap<String, String>> for Parameters {
    fn from(mut variables: BTreeMap<String, String>) -> Self {
        let cpus = variables.get(CPU_LIMIT).and_then(|text| text.parse().ok());
        if cpus.is_some() {
            variables.remove(CPU_LIMIT);
        }
        let cpus = cpus.map(CpuQuota);
        Self { variables, cpus }
    }
}

impl From<Parameters> for BTreeMap<String, String> {
    fn from(parameters: Parameters) -> Self {
        parameters.by_name()
    }
}

/// A quota of CPU time, in cores.
#[derive(Debug, Clone, Copy)]
pub struct CpuQuota(pub f64);

impl fmt::Display for CpuQuota {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl PartialEq for CpuQuota {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for CpuQuota {}

impl PartialOrd for CpuQuota {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CpuQuota {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
