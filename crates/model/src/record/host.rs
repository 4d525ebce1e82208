//! The host of a run.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::measure::core_sharing::CoreSharing;

/// The machine that was measured on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Kernel release.
    pub kernel: String,
    /// CPU model.
    pub cpu_model: String,
    /// Usable cores.
    pub cores: usize,
    /// Memory, bytes.
    pub memory_bytes: u64,
    /// CPU frequency governor, where readable.
    pub governor: Option<String>,
    /// Virtualisation or container, if it shows.
    pub virtualisation: Option<String>,
    /// Mitigations of CPU faults in force, where readable: name -> state.
    pub mitigations: BTreeMap<String, String>,
    /// Operating system.
    pub os: String,
    /// Soft limit of open files.
    pub nofile: u64,
    /// Versions of what took part: bakeoff, docker, java, ...
    pub versions: BTreeMap<String, String>,
    /// The highest rate of the load generator here; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<GeneratorCeiling>,
    /// Median round trip between the load generator's host and this one, ns; absent if they are one
    /// machine, in a cluster, and if no round trip could be made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_trip_ns: Option<u64>,
    /// Slowdown of the contender's cores by the load generator's; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core_sharing: Option<CoreSharing>,
}

/// The highest rate of the load generator on a host, in closed load on a server that does nothing.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GeneratorCeiling {
    /// The reactor that it used.
    pub reactor: String,
    /// Threads of the load generator.
    pub threads: usize,
    /// Connections of the ceiling; the floor is on one.
    pub connections: u32,
    /// The highest rate, requests per second.
    pub requests_per_s: f64,
    /// CPU time of a request there, us.
    pub cpu_us_per_request: f64,
    /// Share of its threads' time that it used there, 0 to 1. Well below 1 the server was the
    /// limit, and the load generator can do more.
    pub busy: f64,
    /// Median time on one connection, us.
    pub floor_p50_us: f64,
    /// 99th percentile on one connection, us.
    pub floor_p99_us: f64,
}
