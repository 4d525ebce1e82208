//! The connections of a load.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Connections of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Connections {
    /// How many the step wanted.
    pub asked: u32,
    /// How many were really open at the same time when the slice started.
    pub established: u32,
    /// Requests that these could have in flight then.
    pub in_flight_max: u32,
    /// How many had to be reopened during the slice.
    pub reconnects: u64,
    /// Each is opened by its user and closed when the user is done, so that fewer than `asked` are
    /// open at a time, and none before the step.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_arrival: bool,
}

impl Connections {
    /// Returns how many should have been open and were not.
    #[must_use]
    pub fn missing(&self) -> u32 {
        match self.on_arrival {
            true => 0,
            false => self.asked.saturating_sub(self.established),
        }
    }
}
