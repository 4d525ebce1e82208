//! Contenders with parameters, laid out by their values: what the best number of workers is.

use std::collections::BTreeMap;

use bakeoff_base::natural;
use maud::{Markup, html};

use super::table;
use bakeoff_analysis::data::benchmark::{BenchmarkData, CaseData};
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::{significant, significant_or_dash};
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::tables::summary::BenchmarkSummary;

/// A case with parameters, and its row if it has any numbers.
struct Cell<'s> {
    parameters: BTreeMap<String, String>,
    row: Option<&'s Row>,
}

/// One part for each contender with several combinations of parameters; empty without any.
pub(super) fn section(benchmark: &BenchmarkData<'_>, summary: &BenchmarkSummary) -> Markup {
    let mut contenders: Vec<(&str, Vec<Cell<'_>>)> = Vec::new();
    for case in &benchmark.cases {
        let Some((contender, cell)) = cell(case, summary) else {
            continue;
        };
        match contenders.iter_mut().find(|(name, _)| *name == contender) {
            Some((_, cells)) => cells.push(cell),
            None => contenders.push((contender, vec![cell])),
        }
    }
    contenders.retain(|(_, cells)| cells.len() > 1);
    html! {
        @for (contender, cells) in &contenders {
            @let names: Vec<&str> = cells[0].parameters.keys().map(String::as_str).collect();
            h4 { (contender) " by parameter" }
            @if let Some(step) = &summary.stated {
                p.hint { "p99, CPU per request and memory " (step.describe()) "." }
            }
            @match names.as_slice() {
                [rows, columns] => (matrices(cells, rows, columns)),
                _ => (list(cells, &names)),
            }
        }
    }
}

fn cell<'s>(case: &'s CaseData<'_>, summary: &'s BenchmarkSummary) -> Option<(&'s str, Cell<'s>)> {
    let run = &case.runs.first()?.records.begin.run;
    if run.parameters.is_empty() {
        return None;
    }
    Some((
        run.contender.as_str(),
        Cell {
            parameters: run.parameters.by_name(),
            row: summary.row(&case.label),
        },
    ))
}

/// One line for each combination.
fn list(cells: &[Cell<'_>], names: &[&str]) -> Markup {
    table::framed(
        "",
        &html! {
            thead {
                tr {
                    @for name in names { th scope="col" { (name) } }
                    th scope="col" { "requests/s" }
                    th scope="col" { "p99 ms" }
                    th scope="col" { "CPU µs/request" }
                    th scope="col" { "MiB" }
                    th scope="col" { "validity of requests/s" }
                }
            }
            tbody { @for cell in cells { (line(cell)) } }
        },
    )
}

fn line(cell: &Cell<'_>) -> Markup {
    let row = cell.row;
    html! {
        tr {
            @for value in cell.parameters.values() { th scope="row" { (value) } }
            td { (point(row.map(|row| &row.peak.throughput))) }
            td { @match row { Some(row) => (p99(row)), None => "–" } }
            td { (point(row.and_then(|row| row.stated.cpu_us.as_ref()))) }
            td { (point(row.and_then(|row| row.stated.memory_mib.as_ref()))) }
            td { (row.map_or("no numbers", |row| row.validity().name())) }
        }
    }
}

/// The number of a metric with a mark when it is not fair.
fn point(metric: Option<&Metric>) -> Markup {
    html! {
        @match metric {
            Some(metric) => { (significant(metric.mean())) (table::mark(metric)) }
            None => "–",
        }
    }
}

/// The 99th percentile, with the mark of what it is read off.
fn p99(row: &Row) -> Markup {
    html! {
        (significant_or_dash(row.stated.p99_ms))
        (table::mark_of(row.times_validity(), || row.times_validity().evidence()))
    }
}

fn matrices(cells: &[Cell<'_>], rows: &str, columns: &str) -> Markup {
    let throughput = |row: &Row| point(Some(&row.peak.throughput));
    let cpu = |row: &Row| point(row.stated.cpu_us.as_ref());
    html! {
        (matrix(cells, rows, columns, "requests/s", throughput))
        (matrix(cells, rows, columns, "p99 ms", p99))
        (matrix(cells, rows, columns, "CPU µs/request", cpu))
    }
}

/// Values of one parameter down, of the other across.
fn matrix(
    cells: &[Cell<'_>],
    rows: &str,
    columns: &str,
    title: &str,
    content: impl Fn(&Row) -> Markup,
) -> Markup {
    let (downs, acrosses) = (values(cells, rows), values(cells, columns));
    let row = |down: &str, across: &str| {
        let is = |cell: &Cell<'_>, name: &str, value: &str| {
            cell.parameters.get(name).is_some_and(|own| own == value)
        };
        let mut cells = cells.iter();
        cells
            .find(|cell| is(cell, rows, down) && is(cell, columns, across))
            .and_then(|cell| cell.row)
    };
    table::framed(
        "matrix",
        &html! {
            caption { (title) ": " (rows) " down, " (columns) " across" }
            thead { tr { td {} @for across in &acrosses { th scope="col" { (across) } } } }
            tbody {
                @for down in &downs {
                    tr {
                        th scope="row" { (down) }
                        @for across in &acrosses {
                            td {
                                @match row(down, across) {
                                    Some(row) => (content(row)),
                                    None => "–",
                                }
                            }
                        }
                    }
                }
            }
        },
    )
}

/// The values of one parameter in natural order.
fn values<'s>(cells: &'s [Cell<'_>], name: &str) -> Vec<&'s str> {
    let mut values: Vec<&str> = cells
        .iter()
        .filter_map(|cell| cell.parameters.get(name).map(String::as_str))
        .collect();
    values.sort_by(|a, b| natural::compare(a, b));
    values.dedup();
    values
}
