//! The ranked table of a benchmark with load.

use super::{Cell, Column, Mark, Table};
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::data::stated_step::StatedStep;

/// In the order of all documents. A terminal that is too narrow leaves out the last ones.
const COLUMNS: &[Column<Row>] = &[
    Column::new("#", |row: &Row| {
        Cell::rank(row.standing.rank, row.standing.tie)
    }),
    Column::text("contender", |row: &Row| {
        Cell::Name(row.label.clone(), row.note.iter().cloned().collect())
    }),
    Column::new("req/s", |row: &Row| {
        let peak = &row.peak.throughput;
        let mark = Mark::of(&peak.validity, peak.validity.evidence());
        Cell::Ranked(peak.estimate, mark)
    })
    .page("requests/s")
    .help("mean over runs at the best step, 95 % interval")
    .terminal("req/s", 6),
    Column::text("95 % interval", |row: &Row| {
        Cell::interval(Some(&row.peak.throughput))
    })
    .not_on_page()
    .terminal("±95%", 6),
    Column::new("best at", |row: &Row| Cell::word(&row.peak.step))
        .help("connections or rate of that step")
        .terminal("conns", 5),
    Column::new("p50 ms", |row: &Row| time(row, row.stated.p50_ms))
        .help("at the step named above, all runs merged")
        .not_in_markdown(),
    Column::new("p99 ms", |row: &Row| time(row, row.stated.p99_ms))
        .help("at the step named above, all runs merged")
        .terminal("p99 ms", 6),
    Column::new("CPU us/req", |row: &Row| {
        at_stated(row, row.stated.cpu_us.as_ref())
    })
    .page("CPU µs/request")
    .help("at the step named above, for each request that came to an end, well or not")
    .terminal("us/req", 6),
    Column::new("MiB", |row: &Row| {
        at_stated(row, row.stated.memory_mib.as_ref())
    })
    .help("highest from the start to the end of the step named above, mean over runs")
    .terminal("MiB", 5),
    Column::new("start-up s", |row: &Row| {
        Cell::metric(row.whole.startup_s.as_ref())
    })
    .terminal("start s", 7),
    Column::new("errors", |row: &Row| {
        Cell::Errors(row.whole.errors, row.whole.error_share)
    })
    .help("over all measured steps")
    .terminal("errors", 6),
    Column::new("checks", |row: &Row| {
        Cell::Fraction(row.checks.good, row.checks.total)
    })
    .terminal("checks", 6),
    Column::new("lifecycle", |row: &Row| {
        Cell::Fraction(row.lifecycle.good, row.lifecycle.total)
    })
    .not_in_markdown(),
    Column::new("runs", |row: &Row| {
        Cell::Fraction(row.whole.completed, row.whole.started)
    })
    .help("completed of started"),
];

/// The meaning of the signs next to ranks.
pub(in crate::render) const TIES: &str = "\
Rank = 1 + number of significantly faster contenders. “=”: not significantly different from \
another of the rank, so that their order means nothing. “≈”: equivalent to the others of the rank, \
within 3 %.";

/// Returns which load each column is about: the stated step, or `open` load for response times.
pub(in crate::render) fn where_measured(step: &StatedStep, open: Option<String>) -> String {
    let at = step.describe();
    match open {
        Some(open) => format!(
            "Requests/s: each at its own best step. CPU per request and memory: all {at}. \
             Latencies: all {open}, a dash where a contender did not hold that rate and with fewer \
             than 50 requests beyond it in each set. Errors: over all of these."
        ),
        None => format!(
            "Requests/s: each at its own best step. Latencies, CPU per request and memory: all \
             {at}, a dash where that step is not valid for the contender. Errors: over all \
             measured steps."
        ),
    }
}

/// Returns the same in the few words that a terminal has room for.
pub(in crate::render) fn where_in_short(step: &StatedStep, open: Option<String>) -> String {
    let at = step.describe();
    match open {
        Some(open) => format!(
            "us/req and MiB {at}; p99 {open}, the same rate for all; errors over all of these"
        ),
        None => format!("p99, us/req and MiB {at}; errors over all measured steps"),
    }
}

/// Returns the table of these rows.
pub(in crate::render) fn table<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Table {
    Table::of(COLUMNS, rows)
}

/// A time, with the verdict on what it is read off.
fn time(row: &Row, time_ms: Option<f64>) -> Cell {
    let validity = row.times_validity();
    Cell::Number(time_ms, Mark::of(validity, validity.to_string()))
}

/// A metric at the stated step with the verdict on that, which is also why there is a dash.
fn at_stated(row: &Row, metric: Option<&Metric>) -> Cell {
    let reason = match metric {
        Some(metric) => format!("{} {}", metric.steps_text(), row.stated.validity),
        None => row.stated.validity.to_string(),
    };
    let estimate = metric.map(|metric| metric.estimate);
    Cell::Mean(estimate, Mark::of(&row.stated.validity, reason))
}
