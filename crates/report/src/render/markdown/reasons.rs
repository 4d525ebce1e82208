//! Why requests of two contenders differ in CPU, as Markdown.

use std::fmt::Write as _;

use super::{Column, escape, push_table_of};
use crate::render::reasons;
use bakeoff_analysis::reasons::Reasons;

const COLUMNS: [Column; 5] = [
    ("<", "for each request"),
    (">", "the one with more CPU"),
    (">", "the other"),
    (">", "difference"),
    ("<", "95 % interval"),
];

const MARK: &str = "\\*";

/// A sentence for each pair, and the whole table where there is one pair only: that of all pairs of
/// a large session is in the HTML report.
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
        let rows = only.all().map(|one| reasons::row(one, MARK).to_vec());
        push_table_of(text, &COLUMNS, rows.collect());
        let _ = writeln!(text, "\n{MARK}: {}.", reasons::MARKED);
    }
}
