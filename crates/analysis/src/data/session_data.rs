//! Inputs to the numbers of a step beyond its own slices.

use bakeoff_model::record::{Begin, Results};
use bakeoff_model::suite::run_count::DecisionReason;
use bakeoff_stats::Budget;

use super::sittings;

/// The parts of its session that a step needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SessionData {
    /// How sets were looked at, if these looks decided their number.
    pub(crate) looks: Option<Budget>,
    /// Index of the run's sitting.
    pub(crate) sitting: u32,
}

impl SessionData {
    pub(crate) fn of(results: &Results, sittings: &[&str], begin: &Begin) -> Self {
        let decision = results.runs_decision.as_ref();
        let decision = decision.filter(|decision| decision.asked.sequential);
        Self {
            looks: decision.map(|decision| match decision.because {
                DecisionReason::Decided | DecisionReason::ConditionsDecided => Budget::Left,
                _ => Budget::Spent,
            }),
            sitting: sittings::index(sittings, begin),
        }
    }
}
