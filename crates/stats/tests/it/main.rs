//! The statistics against SciPy, against known truths by simulation, and at their edges.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests, outside of test functions"
)]

mod bounds;
mod capacity;
mod planner;
mod scipy;
mod sequential;
mod simulation;
mod verdicts;
