//! Documents made of synthetic results.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, outside of test functions"
)]

mod answer;
mod baseline;
mod capacity;
mod control;
mod exchange;
mod groups;
mod latency;
mod overhead;
mod own_metrics;
mod page;
mod published;
mod ranking;
mod reasons;
mod scaling;
mod sentence;
#[allow(dead_code, reason = "the tests of the analysis use the rest of it")]
#[path = "../../../analysis/tests/it/synthetic/mod.rs"]
mod synthetic;
mod text;
mod turns;
mod users;
mod warm_up;
mod winners;
