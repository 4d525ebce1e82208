//! Reasons why requests of two contenders differ in CPU, part by part.

use super::{Cell, Column, Table};
use bakeoff_analysis::explain::reasons::{Reason, Reasons};

/// The meaning of the parts, and their source.
pub(in crate::render) const METHOD: &str = "\
By what is recorded of every contender, without a profiler. Own code is user time of all threads \
that serve requests: framework, libraries and handlers. Bytes, segments and context switches are \
those of the whole contender, its connections to a backend included.";

/// The meaning of the mark on a difference.
pub(in crate::render) const MARKED: &str = "\
*: significant: 5 % for any false one among the totals of the table's pairs; then, of pairs whose \
totals differ significantly, among the parts, and among all else (Holm).";

const COLUMNS: &[Column<Reason>] = &[
    Column::text("for each request", |one: &Reason| Cell::name(one.name)),
    Column::new("the one with more CPU", |one: &Reason| {
        Cell::number(one.dearer)
    }),
    Column::new("the other", |one: &Reason| Cell::number(one.cheaper)),
    Column::new("difference", |one: &Reason| {
        let mark = match one.difference.is_significant() {
            true => "*",
            false => "",
        };
        Cell::Word(format!("{}{mark}", one.signed()))
    }),
    Column::text("95 % interval", |one: &Reason| Cell::Word(one.interval())),
];

/// Returns the table of a pair.
pub(in crate::render) fn table(pair: &Reasons) -> Table {
    Table::of(COLUMNS, pair.all())
}
