//! The tables of a benchmark: ranks with their comparisons, contenders without a rank, failures,
//! the control, and overviews.

pub mod by_cpu;
pub mod comparison;
pub(crate) mod condition_metrics;
pub mod control;
pub mod errors;
pub mod failures;
pub mod first_byte;
pub(crate) mod latency_sentences;
pub mod lower_bounds;
pub mod overview;
pub mod profile;
pub mod steady;
pub mod summary;
