//! Results in, documents out: HTML, Markdown, CSV, the terminal's table.
//!
//! Pure: no clock, no files, no network. The same results always give the same bytes.
//! [`Analysis::of`] computes everything once: estimates, comparisons, winners, claims, steady
//! states. The documents are functions of it and compute nothing. What is sure and what is not is
//! decided by `bakeoff_stats`; whether a number is fair was decided when it was measured. This
//! crate only refuses to rank what is not.

mod analysis;
mod chart;
mod input;
mod number;
mod render;

pub use analysis::baseline::words::changed;
pub use analysis::baseline::{
    AgainstBase, Change, Conclusion as BaselineConclusion, HeadAndBase, Judged, Outcome,
};
pub use analysis::capacity::{CapacityRow, CapacitySummary, CapacityTable, Confirmed};
pub use analysis::checks::CheckCount;
pub use analysis::claims::{ClaimRow, ClaimVerdict};
pub use analysis::comparison::{Conclusion, Matrix};
pub use analysis::failures::{FailedRun, Unranked};
pub use analysis::families::Family;
pub use analysis::groups::Common;
pub use analysis::lower_bounds::LowerBound;
pub use analysis::metric::{Metric, Quantity};
pub use analysis::overhead::{Overhead, Ratio, Share, Without};
pub use analysis::played_turn::{PlayedTurn, turns_of};
pub use analysis::reasons::{Reason, Reasons};
pub use analysis::row::Row;
pub use analysis::sessions::{Compared, compared, incompatible};
pub use analysis::startup::{Phases, StartRow, StartupSummary};
pub use analysis::stated::StatedStep;
pub use analysis::summary::{BenchmarkSummary, RankTable};
pub use analysis::turns::{SetCount, SetRatio, Sets, Spread};
pub use analysis::{Analysis, CapacityAnalysis, LoadAnalysis, StartupAnalysis};
pub use input::{ReportInput, RoundResults};
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
pub use render::verdict::{
    AgainstBest, BenchmarkVerdict, NotRanked, Ranked, TakenByBoth, Why, WithInterval, verdicts,
};
