//! The table of the capacities by one objective.

use super::{Cell, Column, Table};
use bakeoff_analysis::benchmarks::capacity::CapacityRow;

/// In the order of all documents. A terminal that is too narrow leaves out the last ones.
const COLUMNS: &[Column<CapacityRow>] = &[
    Column::new("#", |row: &CapacityRow| Cell::rank(row.rank, row.tie)),
    Column::text("contender", |row: &CapacityRow| {
        Cell::Name(row.label.clone(), row.note.iter().cloned().collect())
    }),
    Column::new("req/s", |row: &CapacityRow| Cell::Ranked(row.rate, None))
        .help("geometric mean over runs, 95 % interval; with one run the interval of its search")
        .terminal("req/s", 7),
    Column::text("95 % interval", |row: &CapacityRow| {
        Cell::Interval(Some(row.rate))
    })
    .not_on_page()
    .terminal("±95%", 6),
    Column::new("last before failure", |row: &CapacityRow| {
        Cell::number(row.last_before_failure)
    })
    .help(
        "the highest rate that was met below the lowest that was missed, geometric mean over runs",
    )
    .terminal("last", 7),
    Column::new("CPU us/req", |row: &CapacityRow| Cell::number(row.cpu_us))
        .help("at the trial that was met next to the capacity, mean over runs")
        .terminal("us/req", 6),
    Column::new("confirmed", |row: &CapacityRow| {
        Cell::Fraction(row.confirmed.met, row.confirmed.held)
    })
    .help("later runs that held what the runs before them had found, of those that tried")
    .terminal("confirmed", 9),
    Column::new("runs", |row: &CapacityRow| {
        Cell::Fraction(row.runs, row.runs_begun)
    })
    .help("with a capacity, of those that were started")
    .terminal("runs", 5),
];

/// Returns the table of these rows.
pub(in crate::render) fn table(rows: &[CapacityRow]) -> Table {
    Table::of(COLUMNS, rows)
}
