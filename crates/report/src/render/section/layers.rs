//! CPU time by layer, from samples of stacks.

use super::{Section, SectionItem};
use crate::render::table::{Align, Cell, Heading, Table};
use bakeoff_analysis::data::number::significant;
use bakeoff_analysis::explain::layers::{Layers, SampledDifference, SampledPair};

const METHOD: &str = "\
CPU per request at the stated step, divided as samples of stacks divide it, which were taken in \
one more run; the share of the kernel is the one that counters state. ± is the 95 % interval by \
the number of samples alone.";

/// The method behind the table of a pair.
const PAIR_METHOD: &str = "\
Layers and functions in which two contenders differ significantly, at most one in twenty of them \
by chance (Benjamini and Hochberg); functions only within one language. Changed lines of the \
sources come first, with all that their functions call; that any of them is wrong is at most 5 % \
likely (Holm).";

/// The most functions of a pair that are shown.
const FUNCTIONS_SHOWN: usize = 15;

/// None without samples of stacks.
pub(super) fn section(layers: &Layers) -> Option<Section> {
    if layers.rows.is_empty() {
        return None;
    }
    let title = "Where CPU time goes, by layer";
    let mut section = Section::of(title, METHOD, table(layers));
    for pair in &layers.pairs {
        let table = pair_table(pair);
        if !table.rows.is_empty() {
            let note = format!("{} against {}. {PAIR_METHOD}", pair.dearer, pair.cheaper);
            section
                .parts
                .extend([SectionItem::Note(note), SectionItem::Table(table)]);
        }
    }
    Some(section)
}

/// A contender in each row.
fn table(layers: &Layers) -> Table {
    let names = layers.names.iter().map(|name| Heading::named(name));
    let rows = layers.rows.iter().map(|row| {
        let cells = row.cpu_us.iter().map(|cell| match cell {
            Some((cpu_us, half)) => with_half(significant(*cpu_us), *half),
            None => Cell::number(None),
        });
        let name = std::iter::once(Cell::name(&row.label));
        name.chain(cells).chain([Cell::word(row.samples)]).collect()
    });
    Table {
        headings: first()
            .chain(names)
            .chain([Heading::named("samples")])
            .collect(),
        rows: rows.collect(),
    }
}

/// A significant difference in each row: changes of the sources, layers, functions.
fn pair_table(pair: &SampledPair) -> Table {
    let headings = [&pair.dearer, &pair.cheaper, "difference"].map(Heading::named);
    let functions = pair.functions.iter().flatten().take(FUNCTIONS_SHOWN);
    let changes = pair.changes.iter().flat_map(|changes| &changes.significant);
    let row = |one: &SampledDifference| {
        let difference = one.difference_us();
        let sign = if difference < 0.0 { "−" } else { "+" };
        let amount = format!("{sign}{}", significant(difference.abs()));
        vec![
            Cell::name(&one.name),
            Cell::number(one.dearer_us),
            Cell::number(one.cheaper_us),
            with_half(amount, one.half_us),
        ]
    };
    Table {
        headings: first().chain(headings).collect(),
        rows: changes
            .chain(&pair.layers)
            .chain(functions)
            .map(row)
            .collect(),
    }
}

/// The heading of the names of rows.
fn first() -> impl Iterator<Item = Heading> {
    std::iter::once(Heading {
        align: Align::Left,
        ..Heading::named("CPU µs/request")
    })
}

/// `12.1 ± 0.8`.
fn with_half(amount: String, half: f64) -> Cell {
    Cell::Word(format!("{amount} ± {}", significant(half)))
}
