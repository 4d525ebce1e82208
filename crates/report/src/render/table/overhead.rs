//! Contenders as a share of their baselines, and along parameters with numbers.

use super::{Align, Cell, Column, Heading, Mark, Table};
use crate::render::overhead::interval;
use bakeoff_analysis::benchmarks::overhead::{BaselineShare, Overhead, Ratio};
use bakeoff_analysis::benchmarks::scaling::Scaling;
use bakeoff_analysis::data::metric::Quantity;
use bakeoff_analysis::data::number::significant;

/// Columns of the stated step; the terminal leaves the last ones out if it is too narrow.
const HEADLINE: &[Column<BaselineShare>] = &[
    Column::text("contender", |share: &BaselineShare| {
        Cell::name(&share.label)
    }),
    Column::new("requests/s", |share: &BaselineShare| {
        percent(share.ratios[0].as_ref())
    })
    .terminal("req/s %", 7),
    Column::text("95 %", |share: &BaselineShare| {
        Cell::Word(share.ratios[0].as_ref().map_or_else(String::new, interval))
    })
    .terminal("95 %", 11),
    Column::new("CPU", |share: &BaselineShare| {
        percent(share.ratios[1].as_ref())
    })
    .terminal("CPU %", 6),
    Column::new("MiB", |share: &BaselineShare| {
        percent(share.ratios[2].as_ref())
    })
    .terminal("MiB %", 6),
    Column::text("of", |share: &BaselineShare| Cell::word(&share.baseline)).terminal("of", 28),
];

/// Returns the shares of a benchmark at its stated step.
pub(in crate::render) fn headline(shares: Vec<&BaselineShare>) -> Table {
    Table::of(HEADLINE, shares)
}

fn percent(ratio: Option<&Ratio>) -> Cell {
    let percent = ratio.map(|ratio| ratio.ratio.point * 100.0);
    Cell::Number(percent, ratio.and_then(mark))
}

/// The verdict on the steps behind both contenders.
fn mark(ratio: &Ratio) -> Option<Mark> {
    Mark::of(&ratio.validity, ratio.validity.to_string())
}

/// Returns the table of the quantity at that place: contenders at the steps that are shown down,
/// benchmarks across.
pub(in crate::render) fn shares(overhead: &Overhead, quantity: Quantity, place: usize) -> Table {
    let cell = |share: Option<&BaselineShare>| {
        let ratio = share.and_then(|share| share.ratios[place].as_ref());
        ratio.map_or(Cell::number(None), |ratio| {
            let (own, other) = (significant(ratio.contender), significant(ratio.baseline));
            Cell::Share {
                percent: significant(ratio.ratio.point * 100.0),
                interval: interval(ratio),
                means: format!("{own} of {other} {}, means over runs", quantity.unit()),
                mark: mark(ratio),
            }
        })
    };
    let rows = overhead.lines().into_iter().map(|line| {
        let names = [
            Cell::name(line.label),
            Cell::text(line.baseline),
            Cell::word(&line.step.label),
        ];
        let shares = line.shares.iter().map(|share| cell(*share));
        names.into_iter().chain(shares).collect()
    });
    let names = [left("contender"), left("of"), Heading::named("at")];
    let benchmarks = overhead.benchmarks().into_iter().map(Heading::named);
    Table {
        headings: names.into_iter().chain(benchmarks).collect(),
        rows: rows.collect(),
    }
}

/// Returns the table of the quantity at that place: contenders at the steps that are shown down,
/// values of the parameter across.
pub(in crate::render) fn scaling(scaling: &Scaling, place: usize) -> Table {
    let mut rows = Vec::new();
    for line in &scaling.lines {
        for (step, shown) in scaling.steps.iter().enumerate() {
            let mut cells = vec![Cell::name(&line.label), Cell::word(&shown.label)];
            let values = 0..scaling.values.len();
            cells.extend(values.map(|value| {
                let metric = line.metric(value, step, place);
                let estimate = metric.map(|metric| metric.estimate);
                Cell::Spread(estimate, metric.and_then(Mark::of_metric))
            }));
            rows.push(cells);
        }
    }
    let names = [left("contender"), Heading::named("at")];
    let values = scaling.values.iter().map(|value| Heading::named(value));
    Table {
        headings: names.into_iter().chain(values).collect(),
        rows,
    }
}

/// The heading of words.
fn left(name: &str) -> Heading {
    Heading {
        align: Align::Left,
        ..Heading::named(name)
    }
}
