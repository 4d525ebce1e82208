//! Whether a number is fair, and what a step's figures show about how they came about. Pure.

mod closed_loop;
mod rules;
mod symptoms;

pub use closed_loop::ClosedLoop;
pub use rules::{Evidence, judge};
pub use symptoms::Figures;
