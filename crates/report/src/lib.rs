//! Results in, documents out: HTML, Markdown, CSV, the terminal's table.
//!
//! Pure: no clock, no files, no network. The same results always give the same bytes. What is
//! sure and what is not is decided by `bakeoff_stats`; whether a number is fair was decided when
//! it was measured. This crate only refuses to rank what is not.

mod against;
mod checks;
mod claims;
mod csv;
mod figure;
mod html;
mod labels;
mod markdown;
mod measure;
mod natural;
mod number;
mod reading;
mod startup;
mod summary;
mod terminal;
mod winner;
mod words;

use bakeoff_model::record::Results;

pub use against::{Compared, compared, compared_text, incompatible};
pub use checks::CheckCount;
pub use claims::{ClaimRow, ClaimVerdict, claims};
pub use csv::csv;
pub use html::html;
pub use markdown::markdown;
pub use startup::{Phases, StartRow, StartupSummary};
pub use summary::{BenchmarkSummary, FailedRun, RankTable, Row, Summary, Unranked, summary};
pub use terminal::terminal_table;
pub use winner::qualification;

/// What a document is made of.
#[derive(Debug, Clone, Copy)]
pub struct ReportInput<'a> {
    /// The records.
    pub results: &'a Results,
    /// The title; should name the suite and the backend.
    pub title: &'a str,
    /// Other sessions in which claims may be shown: those of the qualification rounds.
    pub rounds: &'a [RoundResults],
}

/// The records of another round.
#[derive(Debug, Clone)]
pub struct RoundResults {
    /// Its results folder, relative to the one that is reported.
    pub folder: String,
    /// Its records.
    pub results: Results,
}
