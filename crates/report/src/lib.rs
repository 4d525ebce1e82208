//! Results in, documents out: HTML, Markdown, CSV, the terminal's table.
//!
//! Pure: no clock, no files, no network. The same results always give the same bytes.
//! [`Analysis::of`] computes everything once: estimates, comparisons, winners, claims, steady
//! states. The documents are functions of it and compute nothing. What is sure and what is not is
//! decided by `bakeoff_stats`; whether a number is fair was decided when it was measured. This
//! crate only refuses to rank what is not.

mod chart;
mod render;

pub use render::articles::{Article, articles};
pub use render::baseline::junit::junit;
pub use render::baseline::services::{bigger_is_better, smaller_is_better};
pub use render::baseline::{summary_for_pull_request, terminal_baseline};
pub use render::csv::benchmarks::benchmarks_csv;
pub use render::csv::capacity::{capacity_csv, trials_csv};
pub use render::csv::csv;
pub use render::csv::overhead::overhead_csv;
pub use render::csv::requests::{errors_csv, requests_csv};
pub use render::exchange::{Exchanged, exchanged};
pub use render::figures::{Figure, figures};
pub use render::html::comparison::comparison as comparison_page;
pub use render::html::html;
pub use render::job::summary_of_job;
pub use render::markdown::markdown;
pub use render::sentence::sentence;
pub use render::terminal::{terminal_comparison, terminal_table};
