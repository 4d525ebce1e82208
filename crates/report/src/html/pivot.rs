//! Contenders with parameters, laid out by their values: what the best number of workers is.

use std::collections::BTreeMap;

use crate::html::text::escape;
use crate::measure::{BenchmarkFigures, CaseFigures};
use crate::natural;
use crate::number::{figures, figures_or_dash};
use crate::summary::{BenchmarkSummary, Row};

/// A case with parameters, and its figures where it has any.
struct Cell<'s> {
    parameters: &'s BTreeMap<String, String>,
    row: Option<&'s Row>,
}

/// One part for each contender with several combinations of parameters; empty without any.
pub(crate) fn section(benchmark: &BenchmarkFigures<'_>, summary: &BenchmarkSummary) -> String {
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
    let parts = contenders.iter().map(|(contender, cells)| {
        let names: Vec<&str> = cells[0].parameters.keys().map(String::as_str).collect();
        let tables = match names.as_slice() {
            [rows, columns] => {
                matrix(cells, rows, columns, "requests/s", |row| {
                    Some(row.throughput.point)
                }) + &matrix(cells, rows, columns, "p99 ms", |row| row.p99_ms)
                    + &matrix(cells, rows, columns, "CPU µs/request", |row| {
                        row.cpu_us.map(|cpu| cpu.point)
                    })
            }
            _ => list(cells, &names),
        };
        format!("<h4>{} by parameter</h4>\n{tables}", escape(contender))
    });
    parts.collect()
}

fn cell<'s>(
    case: &'s CaseFigures<'_>,
    summary: &'s BenchmarkSummary,
) -> Option<(&'s str, Cell<'s>)> {
    let run = &case.runs.first()?.records.begin.run;
    if run.parameters.is_empty() {
        return None;
    }
    let row = summary.rows().find(|row| row.label == case.label);
    Some((
        run.contender.as_str(),
        Cell {
            parameters: &run.parameters,
            row,
        },
    ))
}

/// One line for each combination.
fn list(cells: &[Cell<'_>], names: &[&str]) -> String {
    let head = |name: &str| format!("<th scope=\"col\">{}</th>", escape(name));
    let heads: String = names.iter().map(|name| head(name)).collect();
    let mut body = String::new();
    for cell in cells {
        let values: String = cell
            .parameters
            .values()
            .map(|value| format!("<th scope=\"row\">{}</th>", escape(value)))
            .collect();
        let row = cell.row;
        let found = [
            row.map(|row| row.throughput.point),
            row.and_then(|row| row.p99_ms),
            row.and_then(|row| Some(row.cpu_us?.point)),
            row.and_then(|row| row.memory_mib),
        ];
        let found: String = found
            .iter()
            .map(|value| format!("<td>{}</td>", figures_or_dash(*value)))
            .collect();
        let state = row.map_or("no figures", |row| row.validity.name());
        body.push_str(&format!("<tr>{values}{found}<td>{state}</td></tr>\n"));
    }
    format!(
        "<div class=\"scroll\"><table><thead><tr>{heads}<th scope=\"col\">requests/s</th>\
         <th scope=\"col\">p99 ms</th><th scope=\"col\">CPU µs/request</th>\
         <th scope=\"col\">max MiB</th><th scope=\"col\">validity</th></tr></thead>\
         <tbody>{body}</tbody></table></div>\n"
    )
}

/// Values of one parameter down, of the other across.
fn matrix(
    cells: &[Cell<'_>],
    rows: &str,
    columns: &str,
    title: &str,
    figure: impl Fn(&Row) -> Option<f64>,
) -> String {
    let (downs, acrosses) = (values(cells, rows), values(cells, columns));
    let head = |value: &&str| format!("<th scope=\"col\">{}</th>", escape(value));
    let heads: String = acrosses.iter().map(head).collect();
    let mut body = String::new();
    for down in downs {
        let found = acrosses.iter().map(|across| {
            let cell = cells.iter().find(|cell| {
                cell.parameters.get(rows).is_some_and(|value| value == down)
                    && cell
                        .parameters
                        .get(columns)
                        .is_some_and(|value| value == across)
            });
            let value = cell.and_then(|cell| cell.row).and_then(&figure);
            format!("<td>{}</td>", value.map_or("–".to_owned(), figures))
        });
        let found: String = found.collect();
        body.push_str(&format!(
            "<tr><th scope=\"row\">{}</th>{found}</tr>\n",
            escape(down)
        ));
    }
    let (rows, columns) = (escape(rows), escape(columns));
    format!(
        "<div class=\"scroll\"><table class=\"matrix\"><caption>{title}: {rows} down, {columns} \
         across</caption><thead><tr><td></td>{heads}</tr></thead><tbody>{body}</tbody></table>\
         </div>\n"
    )
}

/// The values of one parameter in natural order.
fn values<'s>(cells: &[Cell<'s>], name: &str) -> Vec<&'s str> {
    let mut values: Vec<&str> = cells
        .iter()
        .filter_map(|cell| cell.parameters.get(name).map(String::as_str))
        .collect();
    values.sort_by(|a, b| natural::compare(a, b));
    values.dedup();
    values
}
