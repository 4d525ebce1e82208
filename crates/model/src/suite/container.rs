//! How a container is started besides its image, its limits and its environment: what an engine can
//! give to any container. The same keys are in the files of a suite and here, because each of them
//! is passed on to the engine, which checks it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::text::units::{DurationText, SizeText};

/// The settings of a container; without a key, its image and its engine decide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ContainerSettings {
    /// The user, by name or number, and the group after a colon.
    #[schemars(length(min = 1))]
    pub user: Option<String>,
    /// The folder in which the program starts.
    #[schemars(length(min = 1))]
    pub workdir: Option<String>,
    /// The name that the container has for itself.
    #[schemars(length(min = 1))]
    pub hostname: Option<String>,
    /// More names by which other containers of the session reach it.
    #[serde(default)]
    pub aliases: Vec<String>,
    /// Only `tmpfs` and `empty-volumes` can be written to.
    #[serde(default)]
    pub read_only: bool,
    /// Folders in memory: `PATH` or `PATH:OPTIONS`.
    #[serde(default)]
    pub tmpfs: Vec<String>,
    /// Folders on the engine's disk that can be written to, with the content that they have in the
    /// image; they go with the container.
    #[serde(default)]
    pub empty_volumes: Vec<String>,
    /// The engine puts its own process first in the container: it passes signals on, and reaps
    /// processes.
    #[serde(default)]
    pub init: bool,
    /// The signal that asks the container to stop; SIGTERM unless given.
    #[schemars(length(min = 1))]
    pub stop_signal: Option<String>,
    /// The size of `/dev/shm`.
    pub shm_size: Option<SizeText>,
    /// The largest number of its processes and threads.
    #[schemars(range(min = 1))]
    pub pids_max: Option<u32>,
    /// Limits of a process by the names of `setrlimit`, such as `nofile`.
    #[serde(default)]
    pub ulimits: BTreeMap<String, Ulimit>,
    /// Parameters of the kernel that are the container's own.
    #[serde(default)]
    pub sysctls: BTreeMap<String, String>,
    /// Capabilities of the kernel that it has in addition.
    #[serde(default)]
    pub cap_add: Vec<String>,
    /// Capabilities of the kernel that it does not have.
    #[serde(default)]
    pub cap_drop: Vec<String>,
    /// Options of security modules, such as `no-new-privileges:true`.
    #[serde(default)]
    pub security_opt: Vec<String>,
    /// More groups of its user.
    #[serde(default)]
    pub group_add: Vec<String>,
    /// Names of hosts and their addresses: `NAME:ADDRESS`. The address `host-gateway` is that of
    /// the engine's host.
    #[serde(default)]
    pub extra_hosts: Vec<String>,
    /// Servers of names.
    #[serde(default)]
    pub dns: Vec<String>,
    /// Options of the resolver of names.
    #[serde(default)]
    pub dns_options: Vec<String>,
    /// Domains in which names without a dot are looked up.
    #[serde(default)]
    pub dns_search: Vec<String>,
}

impl ContainerSettings {
    /// Whether it says nothing that an engine would have to do.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A limit of a process; -1 is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Ulimit {
    /// The limit that counts.
    pub soft: i64,
    /// The one up to which a process may raise it.
    pub hard: i64,
}

/// A command in a container that says whether it is healthy, run by the engine.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Healthcheck {
    /// The command after `CMD`, or a text for a shell after `CMD-SHELL`; `NONE` for no check. The
    /// image's own unless given.
    #[serde(default)]
    pub test: Vec<String>,
    /// The pause before a check; 30 s unless given.
    pub interval: Option<DurationText>,
    /// How long a check may take; 30 s unless given.
    pub timeout: Option<DurationText>,
    /// The number of failures in a row after which the container is unhealthy; 3 unless given.
    #[schemars(range(min = 1))]
    pub retries: Option<u32>,
    /// The time after the start in which failures do not count; none unless given.
    pub start_period: Option<DurationText>,
    /// The pause before a check in that time; 5 s unless given.
    pub start_interval: Option<DurationText>,
}
