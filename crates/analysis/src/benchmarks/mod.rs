//! Benchmarks by kind: load, cold starts and capacity; and what several contenders or parameters
//! of a load say together: overhead over baselines, and scaling.

pub mod capacity;
pub mod load;
pub mod overhead;
pub mod scaling;
pub mod startup;
