//! Reasons why requests of two contenders differ in CPU, as Markdown.

use std::fmt::Write as _;

use super::table::{self, escape};
use crate::render::table::reasons;
use bakeoff_analysis::explain::reasons::Reasons;

/// A sentence for each pair, and the whole table if there is one pair only: the table of all pairs
/// in a large session is in the HTML report.
pub(super) fn push(text: &mut String, all: &[Reasons]) {
    let sentences: Vec<String> = all.iter().filter_map(Reasons::sentence).collect();
    if sentences.is_empty() {
        return;
    }
    text.push_str("\n### Why CPU per request differs\n\n");
    for sentence in sentences {
        let _ = writeln!(text, "- {}", escape(&sentence));
    }
    let _ = writeln!(text, "\n{}", reasons::METHOD);
    if let [only] = all {
        table::push(text, &reasons::table(only));
        let _ = writeln!(text, "\n{}", escape(reasons::MARKED));
    }
}
