//! The spread of pairs of contenders from block to block and from set to set.

use super::{Cell, Column, Table};
use bakeoff_analysis::data::number::ratio_text;
use bakeoff_analysis::turns::{Sets, Spread};

const COLUMNS: [Column<Spread>; 4] = [
    Column::text("requests/s of", |pair: &Spread| {
        Cell::Name(format!("{} / {}", pair.first, pair.second), Vec::new())
    }),
    Column::text("ratio by set", |pair: &Spread| {
        let ratios = pair.ratios.iter();
        let ratios: Vec<String> = ratios.map(|ratio| ratio_text(ratio.ratio.point)).collect();
        Cell::Word(ratios.join(", "))
    })
    .help("geometric mean of the ratios within its blocks, one for each set that both completed"),
    Column::new("spread of blocks", |pair: &Spread| {
        Cell::percent(pair.components.within * 100.0, 1)
    })
    .help("standard deviation of the ratio from block to block of a set"),
    Column::new("spread of processes", between).help(
        "standard deviation of the ratio from set to set beyond what their blocks explain; only \
         more sets make it count for less",
    ),
];

/// The last column if all sets have the same processes.
const OF_SETS: Column<Spread> = Column::new("spread of sets", between)
    .help("standard deviation of the ratio from set to set beyond what their blocks explain");

/// Returns the table of the pairs.
pub(in crate::render) fn table(sets: &Sets) -> Table {
    let [pair, ratio, blocks, processes] = COLUMNS;
    let last = match sets.is_external {
        true => OF_SETS,
        false => processes,
    };
    Table::of(&[pair, ratio, blocks, last], &sets.pairs)
}

fn between(pair: &Spread) -> Cell {
    match pair.components.between {
        Some(deviation) => Cell::percent(deviation * 100.0, 1),
        None => Cell::word("not known"),
    }
}
