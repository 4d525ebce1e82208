//! The statistics of bakeoff: quantiles, intervals, comparisons, ranks, steady state, capacities.
//!
//! Everything here is pure and repeatable: no clock, no input or output, no chance. Latency
//! histograms are part of the model, not of this crate.
//!
//! The unit of replication is the run. A [`Sample`] holds one value per run, because requests
//! inside one run share a process, a heap and a moment and are not independent (Georges, Buytaert
//! and Eeckhout, "Statistically Rigorous Java Performance Evaluation", OOPSLA 2007; Kalibera and
//! Jones, "Rigorous Benchmarking in Reasonable Time", ISMM 2013).

pub mod bound;
pub mod capacity;
pub mod compare;
pub mod components;
pub mod difference;
pub mod distribution;
mod false_discovery;
mod holm;
pub mod level_shift;
pub mod log_ratio;
pub mod pace;
pub mod planner;
pub mod power;
pub mod rank;
pub mod rise;
pub mod sample;
pub mod sequential;
pub mod set_pairs;
pub mod steady;

pub use bound::{BoundSide, Bounded, against_bounds};
pub use capacity::{Enough, Search, StopReason, Trial, over_processes};
pub use compare::{Better, Comparison, Criteria, Pairs, Verdict, compare, compare_family};
pub use components::{Components, are_apart};
pub use difference::{Difference, difference_family};
pub use false_discovery::false_discovery;
pub use holm::adjusted as holm;
pub use level_shift::LevelShift;
pub use log_ratio::{LogRatio, Method, log_ratios};
pub use pace::Pace;
pub use planner::{PilotPair, runs_needed};
pub use power::{Exactness, Threshold};
pub use rank::{Ranked, Tie, rank};
pub use rise::{Point, Rise, rise, rise_over};
pub use sample::{Budget, Estimate, Interval, Sample};
pub use sequential::{Decision, Look, Sequential, Sides};
pub use set_pairs::SetPairs;
pub use steady::{SteadyState, steady_state};
