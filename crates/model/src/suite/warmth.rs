//! The warmth of a contender when it was measured.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A warm-up is judged by this number of slices at least,
pub const SLICES_MIN: u32 = 8;
/// and by this much time.
pub const TIME_MIN: Duration = Duration::from_secs(10);

/// How warm a contender was at the end of a warm-up that lasts until it is.
///
/// By time slices, the last of that warm-up: ten seconds, or as many more as their noise made
/// necessary. What rises is the number of requests that a second of the contender's CPU time
/// serves, against the load generator's CPU time for them; or throughput, if CPU time is not
/// metered or if throughput rises significantly. By turns: requests for each second of the
/// contender's CPU time, relative to the other contenders' median in the same blocks, over the last
/// half of the blocks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Warmth {
    /// How much it grew in ten seconds, or over these turns; the best guess, 0.01 = 1 %.
    pub rise: f64,
    /// The largest growth that the noise does not exclude.
    pub rise_most: f64,
    /// The smallest growth that the noise does not exclude.
    pub rise_least: f64,
    /// Share of the contender's CPU time that its compiler threads used, 0 to 1; absent where
    /// threads were not read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jit_share: Option<f64>,
    /// How many slices or turns these are.
    pub slices: usize,
    /// Whether it is by turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_turns: bool,
}
