//! Dependencies of a suite: what its contenders call besides a backend.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::container::{ContainerSettings, Healthcheck};
use super::volume::Volume;

/// A program or a container that contenders call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dependency {
    /// Name of the dependency in placeholders, logs and messages.
    pub name: String,
    /// The image of a container; `None` for a program of this host.
    pub image: Option<String>,
    /// Replaces the entry point of the image; empty for its own.
    pub entrypoint: Vec<String>,
    /// The program and its arguments, or the arguments of the image's entry point.
    pub command: Vec<String>,
    /// Environment of the dependency.
    pub env: BTreeMap<String, String>,
    /// The port on which it listens; `None` takes a free one, or the first that an image exposes.
    pub port: Option<u16>,
    /// Files and folders of this host that a container can read.
    pub volumes: Vec<Volume>,
    /// How a container is started besides.
    pub container: ContainerSettings,
    /// When a container counts as ready.
    pub ready: Ready,
    /// The check by which a container is healthy; the image's own unless given.
    pub healthcheck: Option<Healthcheck>,
    /// The path that must respond before contenders start; `None` if connections suffice.
    pub ready_path: Option<String>,
    /// How long it may take until it is ready.
    pub start_timeout: Duration,
    /// The command that fills it; empty without one.
    pub setup: Vec<String>,
    /// The command that restores its data before each start of a contender; empty without one.
    pub reset: Vec<String>,
}

/// When a container counts as ready.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// When it accepts connections on its port, and `ready-path` responds if there is one.
    #[default]
    Connected,
    /// Likewise, or as soon as it runs if no port is known.
    Started,
    /// When its health check succeeds.
    Healthy,
    /// When it has ended with status 0.
    Completed,
}

impl Dependency {
    /// How long a dependency may take until it is ready, unless the suite says otherwise.
    pub const START_TIMEOUT: Duration = Duration::from_secs(60);

    /// Returns the placeholders that stand for the address of a dependency of this name.
    #[must_use]
    pub fn placeholders(name: &str) -> [String; 2] {
        ["host", "port"].map(|part| format!("{{dependency.{name}.{part}}}"))
    }
}
