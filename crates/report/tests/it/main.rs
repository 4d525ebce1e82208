//! Documents made of synthetic results.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, outside of test functions"
)]

mod capacity;
mod page;
mod published;
mod ranking;
mod sentence;
mod synthetic;
mod text;
mod turns;
mod users;
mod winners;
