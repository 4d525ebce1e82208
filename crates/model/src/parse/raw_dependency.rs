//! The dependencies of `suite.toml` as people write them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::suite::container::{ContainerSettings, Healthcheck};
use crate::suite::dependency::Ready;
use crate::text::units::DurationText;

/// A program or a container that contenders call. It is started before them, metered with the
/// backend, and stopped after them.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct DependencyTable {
    /// Name of the dependency: `{dependency.NAME.host}` and `{dependency.NAME.port}` in `env` stand
    /// for its address, and containers of the session reach a container by this name.
    #[schemars(extend("x-text" = "name"))]
    pub name: String,
    /// The image of a container; it takes `--runtime docker`.
    #[schemars(length(min = 1))]
    pub image: Option<String>,
    /// Replaces the entry point of the image.
    #[serde(default)]
    pub entrypoint: Vec<String>,
    /// A program and its arguments; with `image`, the arguments of its entry point. `{host}` and
    /// `{port}` stand for the address on which it must listen.
    #[serde(default)]
    pub command: Vec<String>,
    /// Environment of the dependency; `{host}` and `{port}` as in `command`, and the addresses of
    /// dependencies before it.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The port on which it listens. Unless given, a program gets a free one, and an image is taken
    /// to listen on the first that it exposes.
    #[schemars(range(min = 1))]
    pub port: Option<u16>,
    /// Files and folders of this host that a container can read: `SOURCE:TARGET`, relative to the
    /// suite.
    #[serde(default)]
    pub volumes: Vec<String>,
    /// How a container is started besides.
    #[serde(default)]
    pub container: ContainerSettings,
    /// When a container counts as ready.
    #[serde(default)]
    pub ready: Ready,
    /// The check by which a container is healthy; the image's own unless given. It goes on as long
    /// as the container runs.
    pub healthcheck: Option<Healthcheck>,
    /// The path that must respond with 200, 404 or a redirect before contenders start. Unless
    /// given, the dependency must accept connections.
    #[schemars(extend("x-text" = "path"))]
    pub ready_path: Option<String>,
    /// How long the dependency may take until it is ready; `60s` unless given.
    pub start_timeout: Option<DurationText>,
    /// A command that fills it once it is ready; it runs in the suite's folder, with its address in
    /// `DEPENDENCY_HOST` and `DEPENDENCY_PORT`.
    #[serde(default)]
    pub setup: Vec<String>,
    /// A command that restores its data before each start of a contender.
    #[serde(default)]
    pub reset: Vec<String>,
}
