//! Reasons in words, for every document.

use bakeoff_analysis::layers::{SampledDifference, SampledPair};
use bakeoff_analysis::number::significant;
use bakeoff_analysis::reasons::Reason;

/// The meaning of the parts, and their source.
pub(super) const METHOD: &str = "\
By what is recorded of every contender, without a profiler. Own code is user time of all threads \
that serve requests: framework, libraries and handlers. Bytes, segments and context switches are \
those of the whole contender, its connections to a backend included.";

/// The meaning of the mark on a difference.
pub(super) const MARKED: &str = "\
significant: 5 % for any false one among the totals of the table's pairs; then, of pairs whose \
totals differ significantly, among the parts, and among all else (Holm)";

/// The cells of a row: what it is, both contenders, the difference with `mark` where it is
/// significant, its interval.
pub(super) fn row(one: &Reason, mark: &str) -> [String; 5] {
    let mark = match one.difference.is_significant() {
        true => mark,
        false => "",
    };
    [
        one.name.to_owned(),
        significant(one.dearer),
        significant(one.cheaper),
        format!("{}{mark}", one.signed()),
        one.interval(),
    ]
}

/// Where layers come from.
pub(super) const LAYERS_METHOD: &str = "\
CPU per request at the stated step, divided as samples of stacks divide it, which were taken in \
one more run; the share of the kernel is the one that counters state. ± is the 95 % interval by \
the number of samples alone.";

/// The most functions of a pair that are shown.
const FUNCTIONS_SHOWN: usize = 15;

/// The method behind [`sampled_rows`].
pub(super) const SAMPLED_METHOD: &str = "\
Layers and functions in which two contenders differ significantly, at most one in twenty of them \
by chance (Benjamini and Hochberg); functions only within one language.";

/// Returns the significant differences of a pair, each as name, CPU of both and difference, us; the
/// layers first.
pub(super) fn sampled_rows(pair: &SampledPair) -> Vec<[String; 4]> {
    let functions = pair.functions.iter().flatten().take(FUNCTIONS_SHOWN);
    let all = pair.layers.iter().chain(functions);
    let row = |one: &SampledDifference| {
        let (difference, half) = (one.difference_us(), one.half_us);
        let sign = if difference < 0.0 { "−" } else { "+" };
        let difference = significant(difference.abs());
        [
            one.name.clone(),
            significant(one.dearer_us),
            significant(one.cheaper_us),
            format!("{sign}{difference} ± {}", significant(half)),
        ]
    };
    all.map(row).collect()
}

/// `12.1 ± 0.8`.
pub(super) fn layer_text(cell: Option<(f64, f64)>) -> String {
    cell.map_or_else(
        || "–".to_owned(),
        |(cpu_us, half)| format!("{} ± {}", significant(cpu_us), significant(half)),
    )
}
