//! The causes of a contender's CPU per request: threads, collectors, databases, layers of the
//! stack, and the reasons why two contenders differ.

pub mod cpu_parts;
pub mod database;
pub mod gc;
pub mod layers;
pub mod own_metrics;
pub mod probe;
pub mod reasons;
pub(crate) mod sampled_pair;
