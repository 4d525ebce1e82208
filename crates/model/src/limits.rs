//! What a contender may use at most.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limits of a process group. `None` = not limited.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limits {
    /// CPU quota in cores: CPU seconds per second, on any core.
    pub cpus: Option<f64>,
    /// Memory with swap off, bytes.
    pub memory_bytes: Option<u64>,
}
