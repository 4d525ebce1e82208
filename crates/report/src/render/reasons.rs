//! Reasons in words, for every document.

use crate::analysis::reasons::Reason;
use crate::number::significant;

/// What the parts are, and where they come from.
pub(super) const METHOD: &str = "\
By what is recorded of every contender, without a profiler. Own code is user time of all threads \
that serve requests: framework, libraries and handlers. Bytes, segments and context switches are \
those of the whole contender, its connections to a backend included.";

/// What the mark on a difference means.
pub(super) const MARKED: &str = "\
significant: 5 % for any false one among all differences of the table's pairs (Holm)";

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
one more run. ± is the 95 % interval by the number of samples alone.";

/// `12.1 ± 0.8`.
pub(super) fn layer_text(cell: Option<(f64, f64)>) -> String {
    cell.map_or_else(
        || "–".to_owned(),
        |(cpu_us, half)| format!("{} ± {}", significant(cpu_us), significant(half)),
    )
}
