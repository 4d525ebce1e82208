//! What is concluded from made-up results.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, outside of test functions"
)]

mod baseline;
mod capacity;
mod control;
mod groups;
mod latency;
mod overhead;
mod published;
mod ranking;
mod reasons;
mod repeats;
mod turns;
mod warm_up;
mod winners;

#[allow(dead_code, reason = "the tests of documents use the rest of it")]
mod synthetic;
