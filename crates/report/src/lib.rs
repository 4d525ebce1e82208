//! Writes the analysis of a session as documents: HTML, Markdown, CSV, JUnit and the terminal's
//! table.
//!
//! The functions are pure: no clock, no files, no network, and the same analysis gives the same
//! bytes. They compute nothing: estimates, comparisons, winners, claims and steady states come from
//! [`bakeoff_analysis::Analysis`], and a number that validity marked as unfair is not ranked.

mod chart;
mod render;

pub use render::answer::terminal_answer;
pub use render::articles::{Article, articles};
pub use render::baseline::junit::junit;
pub use render::baseline::services::{bigger_is_better, smaller_is_better};
pub use render::baseline::{summary_for_pull_request, terminal_baseline};
pub use render::chart_files::{ChartFile, figures};
pub use render::ci_summary::summary_of_job;
pub use render::csv::benchmarks::benchmarks_csv;
pub use render::csv::capacity::{capacity_csv, trials_csv};
pub use render::csv::csv;
pub use render::csv::overhead::overhead_csv;
pub use render::csv::requests::{errors_csv, requests_csv};
pub use render::exchange::{Exchanged, exchanged};
pub use render::html::comparison::comparison as comparison_page;
pub use render::html::html;
pub use render::markdown::markdown;
pub use render::sentence::sentence;
pub use render::terminal::{terminal_comparison, terminal_ranks, terminal_repeats, terminal_table};
