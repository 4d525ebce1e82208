//! Records that only contenders in turns have.

use std::ops::AddAssign;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The activity of the other contenders of a set in a slice of one of them, all together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Others {
    /// Their CPU time, as far as it was read, ns.
    pub cpu_ns: u64,
    /// CPU time of the load generator for them, ns.
    pub generator_cpu_ns: u64,
    /// Their successful requests.
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
    /// Its CPU time, ns.
    pub cpu_ns: u64,
    /// The time in which it used that, ns.
    pub wall_ns: u64,
}

impl AddAssign for Unloaded {
    fn add_assign(&mut self, other: Self) {
        self.cpu_ns += other.cpu_ns;
        self.wall_ns += other.wall_ns;
    }
}
