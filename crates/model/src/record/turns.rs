//! Records that only contenders in turns have.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Activity of a set's other contenders, all together, in one contender's slice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Others {
    /// CPU time of the other contenders, as far as it was read, ns.
    pub cpu_ns: u64,
    /// CPU time of the load generator for the other contenders, ns.
    pub generator_cpu_ns: u64,
    /// Successful requests of the other contenders.
    pub requests: u64,
}

impl AddAssign for Others {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.generator_cpu_ns += other.generator_cpu_ns;
        self.requests += other.requests;
    }
}

/// The cost of a contender of a set without load, while others were loaded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unloaded {
    /// CPU time of the contender, ns.
    pub cpu_ns: u64,
    /// Time in which the contender used `cpu_ns`, ns.
    pub wall_ns: u64,
}

impl AddAssign for Unloaded {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.wall_ns += other.wall_ns;
    }
}
