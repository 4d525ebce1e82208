//! Carousels in words, for every document.

use crate::analysis::turns::{Carousels, Spread};
use crate::number::{counted, enumerated, ratio_text};

/// How many carousels there were, how many cycles count, and what that allows to say: sentences.
pub(super) fn sentences(carousels: &Carousels) -> Vec<String> {
    let each = &carousels.each;
    if each.iter().all(|one| one.cycles == 0) {
        let nothing =
            "Nothing was measured: no contender reached the first cycle of its carousels.";
        return vec![nothing.to_owned()];
    }
    let list: Vec<String> = each
        .iter()
        .map(|one| format!("{} of {}", one.kept, one.cycles))
        .collect();
    let began = format!(
        "{}, each with fresh processes. Cycles that count: {}; {}.",
        counted(each.len(), "carousel"),
        enumerated(&list),
        lost(carousels),
    );
    let usable = each.iter().filter(|one| one.kept > 0).count();
    let allowed = match usable {
        0 => "No cycle counts, so nothing is compared.",
        1 => {
            "One carousel has one process of each contender, and another process may differ: there \
             is no interval and no verdict."
        }
        2 => "Two carousels give intervals with one degree of freedom, which are very wide.",
        _ => return vec![began],
    };
    vec![began, allowed.to_owned()]
}

/// How many cycles do not count and why.
fn lost(carousels: &Carousels) -> String {
    let each = &carousels.each;
    let played: usize = each.iter().map(|one| one.cycles).sum();
    let kept: usize = each.iter().map(|one| one.kept).sum();
    if played == kept {
        return "none is lost".to_owned();
    }
    format!(
        "{} of {played} lost for all contenders, because a slice was invalid or could not be \
         judged, or its contender's cores were not its own",
        played - kept
    )
}

/// The columns of [`row`], and what they mean.
pub(super) const COLUMNS: [(&str, &str); 4] = [
    ("requests/s of", ""),
    (
        "ratio by carousel",
        "geometric mean of the ratios within its cycles, one for each carousel that both completed",
    ),
    (
        "spread of cycles",
        "standard deviation of the ratio from cycle to cycle of a carousel",
    ),
    (
        "spread of processes",
        "standard deviation of the ratio from carousel to carousel beyond what their cycles \
         explain; only more carousels make it count for less",
    ),
];

/// A pair as cells of a table.
pub(super) fn row(pair: &Spread) -> [String; 4] {
    let ratios: Vec<String> = pair
        .ratios
        .iter()
        .map(|ratio| ratio_text(ratio.ratio.point))
        .collect();
    let percent = |deviation: f64| format!("{:.1} %", deviation * 100.0);
    let between = pair.components.between;
    [
        format!("{} / {}", pair.first, pair.second),
        ratios.join(", "),
        percent(pair.components.within),
        between.map_or_else(|| "not known".to_owned(), percent),
    ]
}
