//! Carousels in words, for every document.

use crate::analysis::turns::{Carousels, Spread};
use crate::number::{counted, enumerated, ratio_text};

/// How many carousels there were, how many cycles count, and what that allows to say: sentences.
pub(super) fn sentences(carousels: &Carousels) -> Vec<String> {
    let each = &carousels.each;
    let played: usize = each.iter().map(|one| one.cycles).sum();
    let kept: usize = each.iter().map(|one| one.kept).sum();
    let list: Vec<String> = each
        .iter()
        .map(|one| format!("{} of {}", one.kept, one.cycles))
        .collect();
    let mut sentences = vec![format!(
        "{}, each with fresh processes. Cycles that count: {}; {} lost, because a slice was \
         invalid or the contender's cores were not its own.",
        counted(each.len(), "carousel"),
        enumerated(&list),
        counted(played - kept, "cycle"),
    )];
    match each.len() {
        1 => sentences.push(
            "There is no interval, because a process is a unit of its own, and one carousel has \
             one of each contender."
                .to_owned(),
        ),
        2 => sentences.push(
            "Two carousels give an interval with one degree of freedom, which is very wide."
                .to_owned(),
        ),
        _ => {}
    }
    sentences
}

/// The columns of [`row`].
pub(super) const COLUMNS: [&str; 4] = [
    "requests/s of",
    "ratio by carousel",
    "spread of cycles",
    "spread of processes",
];

/// A pair as cells of a table.
pub(super) fn row(pair: &Spread) -> [String; 4] {
    let ratios: Vec<String> = pair.ratios.iter().map(|ratio| ratio_text(*ratio)).collect();
    let percent = |deviation: f64| format!("{:.1} %", deviation * 100.0);
    let between = pair.components.between;
    [
        format!("{} / {}", pair.first, pair.second),
        ratios.join(" "),
        percent(pair.components.within),
        between.map_or_else(|| "not known".to_owned(), percent),
    ]
}
