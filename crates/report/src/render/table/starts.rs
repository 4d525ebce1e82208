//! The table of cold starts.

use super::{Cell, Column, Table};
use bakeoff_analysis::benchmarks::startup::StartRow;
use bakeoff_analysis::data::number::significant;

/// In the order of all documents. A terminal that is too narrow leaves out the last ones.
const COLUMNS: &[Column<StartRow>] = &[
    Column::new("#", |row: &StartRow| Cell::rank(row.rank, row.tie)),
    Column::text("contender", |row: &StartRow| {
        Cell::Name(row.label.clone(), remarks(row))
    }),
    Column::new("start-up s", |row: &StartRow| {
        Cell::Ranked(row.startup_s, None)
    })
    .help("mean over starts, 95 % interval")
    .terminal("start s", 7),
    Column::text("95 % interval", |row: &StartRow| {
        Cell::Interval(Some(row.startup_s))
    })
    .not_on_page()
    .terminal("±95%", 6),
    Column::new("shortest", |row: &StartRow| Cell::number(row.spread_s[0])),
    Column::new("median", |row: &StartRow| Cell::number(row.spread_s[1])).terminal("median", 7),
    Column::new("90 %", |row: &StartRow| Cell::number(row.spread_s[2])),
    Column::new("longest", |row: &StartRow| Cell::number(row.spread_s[3])).terminal("max", 7),
    Column::new("create ms", |row: &StartRow| {
        Cell::number(row.phases.create_ms)
    })
    .help("until the process or container exists"),
    Column::new("exec ms", |row: &StartRow| Cell::number(row.phases.exec_ms))
        .help("until its own program starts"),
    Column::new("listen ms", |row: &StartRow| {
        Cell::number(row.phases.listen_ms)
    })
    .help("until it accepts a connection"),
    Column::new("respond ms", |row: &StartRow| {
        Cell::number(row.phases.respond_ms)
    })
    .help("until the first valid response"),
    Column::new("CPU s", |row: &StartRow| Cell::Mean(row.cpu_s, None))
        .help("until the first response")
        .terminal("CPU s", 7),
    Column::new("MiB", |row: &StartRow| Cell::number(row.memory_mib))
        .help("highest until the first response")
        .terminal("MiB", 4),
    Column::new("image MiB", |row: &StartRow| Cell::number(row.image_mib)).terminal("image", 5),
    Column::new("starts", |row: &StartRow| {
        Cell::Fraction(row.starts, row.starts_begun)
    })
    .help("responded of started")
    .terminal("starts", 6),
];

/// Returns the table of these rows.
pub(in crate::render) fn table(rows: &[StartRow]) -> Table {
    Table::of(COLUMNS, rows)
}

/// The caveat of the contender, and what a Pod adds to its start.
fn remarks(row: &StartRow) -> Vec<String> {
    let pod = row.phases.pod_ms.map(|(schedule_ms, pull_ms)| {
        let (schedule, pull) = (significant(schedule_ms), significant(pull_ms));
        format!("scheduled after {schedule} ms, its image pulled in {pull} ms")
    });
    row.note.iter().cloned().chain(pod).collect()
}
