//! Shares of baselines in words, for every document.

use bakeoff_analysis::benchmarks::overhead::{Ratio, Without};
use bakeoff_analysis::data::number::significant;

/// The meaning of the shares, as a paragraph.
pub(super) const NOTE: &str = "Each contender as a share of its baseline, which was \
    measured with it: the ratio of the geometric means over runs with its 95 % interval, of \
    this comparison alone. For requests/s more than 100 % is better than the baseline, for CPU \
    per request and memory less than 100 %.";

/// `79.0–85.3`; empty without an interval.
pub(super) fn interval(ratio: &Ratio) -> String {
    ratio.ratio.interval.map_or_else(String::new, |ends| {
        let [low, high] = [ends.low, ends.high].map(|end| significant(end * 100.0));
        format!("{low}–{high}")
    })
}

/// `netty-future/tapir, netty-cats/tapir: without a baseline`.
pub(super) fn without(without: &Without) -> String {
    format!("{}: {}", without.labels.join(", "), without.reason)
}
