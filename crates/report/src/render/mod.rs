//! Documents as pure functions of [`bakeoff_analysis::Analysis`]: they lay out and word, and
//! compute nothing.

pub(crate) mod answer;
pub(crate) mod articles;
pub(crate) mod baseline;
pub(crate) mod chart_files;
pub(crate) mod ci_summary;
pub(crate) mod csv;
pub(crate) mod exchange;
pub(crate) mod html;
pub(crate) mod markdown;
mod overhead;
mod section;
pub(crate) mod sentence;
mod table;
pub(crate) mod terminal;
mod turns;
