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
mod synthetic;
mod text;
mod turns;
mod users;
mod warm_up;
mod winners;
