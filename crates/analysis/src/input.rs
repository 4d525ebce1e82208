//! The input of the analysis.

use bakeoff_model::record::Results;

/// The results and other data for the analysis.
#[derive(Debug, Clone, Copy)]
pub struct AnalysisInput<'a> {
    /// The records.
    pub results: &'a Results,
    /// The title; should name the suite and the backend.
    pub title: &'a str,
    /// Other sessions that may support claims: those of the qualification rounds.
    pub rounds: &'a [RoundResults],
}

impl<'a> AnalysisInput<'a> {
    /// Returns the input for results without other rounds.
    #[must_use]
    pub fn new(results: &'a Results, title: &'a str) -> Self {
        Self {
            results,
            title,
            rounds: &[],
        }
    }
}

/// The records of another round.
#[derive(Debug, Clone)]
pub struct RoundResults {
    /// Results folder of the round, relative to the reported one.
    pub folder: String,
    /// Records of the round.
    pub results: Results,
}
