//! The differences that sessions like this one detect.

use bakeoff_stats::{Exactness, Threshold};

use crate::data::number::significant;
use crate::tables::summary::RankTable;

/// Percentage above which differences are not shown as a number.
const COUNTED_MAX: f64 = 1000.0;

/// Returns the smallest significant differences in throughput that four of five sessions find, for
/// the pair with the least noise and the one with the most. `None` if no pair has an interval.
pub(super) fn sentence(table: &RankTable) -> Option<String> {
    let threshold = table.threshold();
    // Cheaper to compute than the detectable difference, and in the same order.
    let reach = |pair: &([&str; 2], Exactness)| pair.1.reach(&threshold);
    let mut pairs = pairs(table);
    pairs.sort_by(|a, b| reach(a).total_cmp(&reach(b)));
    let (best, worst) = (pairs.first()?, pairs.last()?);
    let found = |test: &Exactness| found(test, &threshold);
    let what = "in requests/s (80 % power)";
    if pairs.len() == 1 {
        return Some(format!("Detectable difference {what}: {}.", found(&best.1)));
    }
    let named = |(pair, test): &([&str; 2], Exactness)| {
        let [one, other] = pair;
        format!("{} ({one} and {other})", found(test))
    };
    let (best, worst) = (named(best), named(worst));
    Some(format!(
        "Detectable differences {what}: from {best} to {worst}."
    ))
}

/// Returns the detectable difference as text: `7.3 %`, or `more than 1000 %`.
pub fn found(test: &Exactness, threshold: &Threshold) -> String {
    match test.detectable(threshold) * 100.0 {
        percent if percent > COUNTED_MAX => format!("more than {COUNTED_MAX} %"),
        percent => format!("{} %", significant(percent)),
    }
}

fn pairs(table: &RankTable) -> Vec<([&str; 2], Exactness)> {
    let mut pairs = Vec::new();
    for (place, first) in table.rows.iter().enumerate() {
        for (other, second) in table.rows.iter().enumerate().skip(place + 1) {
            let found = table.throughput_matrix.pairs.get(place, other);
            if let Some(test) = found.and_then(|found| found.exactness) {
                pairs.push(([first.label.as_str(), second.label.as_str()], test));
            }
        }
    }
    pairs
}
