//! What a load generator reports.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Connections, FleetReceipt, LoadInterval, is_zero};

/// One line of the load generator's output.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum LoadEvent {
    /// The connections of a step are open; the window opens next (after a line on standard input
    /// when [`super::LoadSpec::stepwise`]).
    Ready {
        /// The step.
        step: usize,
        /// Connections of the step; with several targets, those of the first.
        connections: Connections,
        /// The connections of the further targets.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further: Vec<Connections>,
        /// Which reactor is in use: `uring-rx-timestamps`, `epoll-rx-timestamps`, `uring` or
        /// `epoll`.
        reactor: String,
        /// Soft limit of open files that the load generator reached.
        nofile: u64,
        /// Requests that each connection may have in flight, as the service allows it; 0 = one,
        /// because the protocol has no streams.
        #[serde(default, skip_serializing_if = "is_zero")]
        streams: u32,
        /// Why the last attempt to open a connection failed, if all of them did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<String>,
    },
    /// The window opened. Sent only if the caller gave an instant for it, before the slices.
    Began {
        /// The step.
        step: usize,
        /// When the last thread started, monotonic ns.
        at_ns: u64,
        /// `at_ns` on the wall clock, ns since the Unix epoch.
        unix_ns: u64,
        /// How much later than the caller's instant the last thread started, ns.
        late_ns: u64,
    },
    /// A slice ended.
    Interval(Box<LoadInterval>),
    /// A step ended; its last slice was sent before.
    StepDone {
        /// The step.
        step: usize,
        /// Receipt of each load generator, if there are several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fleet: Option<Box<FleetReceipt>>,
    },
    /// All steps ended.
    Done,
    /// The load generator gave up; nothing follows.
    Failed {
        /// Why, a lower-case fragment.
        message: String,
    },
}
