//! Contenders as a share of their baselines, for the closing lines of a session.

use super::table::{self, MARK};
use super::wrap::wrap;
use crate::render::overhead::without;
use crate::render::table::overhead::headline;
use bakeoff_analysis::benchmarks::overhead::Overhead;

/// The shares at the stated steps.
pub(super) fn push(text: &mut String, overhead: &Overhead, width: usize) {
    text.push('\n');
    let title = format!("Percent of the baseline: {}", overhead.conditions);
    wrap(text, "", &title, width);
    let mut is_marked = false;
    for benchmark in overhead.benchmarks() {
        let shares = overhead.headline(benchmark);
        let Some(first) = shares.first() else {
            continue;
        };
        text.push('\n');
        wrap(
            text,
            "",
            &format!("{benchmark} {}", first.step.describe()),
            width,
        );
        let shares = headline(shares);
        table::push(text, &shares, width);
        is_marked |= table::has_mark(&shares);
    }
    if is_marked {
        let note = format!("{MARK} one of the two is not a fair number");
        wrap(text, "", &note, width);
    }
    for one in &overhead.without {
        wrap(text, "  ", &without(one), width);
    }
}
