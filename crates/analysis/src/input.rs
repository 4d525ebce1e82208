//! The input of the analysis.

use bakeoff_model::record::Results;

/// The results and what else the analysis needs.
#[derive(Debug, Clone, Copy)]
pub struct AnalysisInput<'a> {
    /// The records.
    pub results: &'a Results,
    /// The title; should name the suite and the backend.
    pub title: &'a str,
    /// Other sessions in which claims may be shown: those of the qualification rounds.
    pub rounds: &'a [RoundResults],
}

impl<'a> AnalysisInput<'a> {
    /// Results by themselves, without other rounds.
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
    /// Its results folder, relative to the one that is reported.
    pub folder: String,
    /// Its records.
    pub results: Results,
}
