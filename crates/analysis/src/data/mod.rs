//! The numbers of steps, runs and cases, from records: metrics with their verdicts, rows, and the
//! step at which they are stated. Nothing is compared here.

pub mod benchmark;
pub mod checks;
pub mod labels;
pub(crate) mod latency;
pub mod metric;
pub mod number;
pub mod percentiles;
pub(crate) mod played_turn;
pub mod price;
pub(crate) mod process;
pub mod requests;
pub mod row;
pub mod scale;
pub(crate) mod session_data;
pub mod sittings;
pub mod stated_step;
mod step_cost;
pub(crate) mod validity;
