//! Contenders as a share of their baselines, at every step.

use super::{decimal, table, whole};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::benchmarks::overhead::{BaselineShare, Overhead, Ratio};
use bakeoff_analysis::data::metric::Quantity;

/// A quantity of a contender and its baseline at a step.
struct Row<'o> {
    overhead: &'o Overhead,
    share: &'o BaselineShare,
    quantity: Quantity,
    ratio: &'o Ratio,
}

/// The name of a column and the cell of a row.
type Column = (&'static str, fn(&Row<'_>) -> String);

const COLUMNS: [Column; 15] = [
    ("conditions", |row| row.overhead.conditions.clone()),
    ("benchmark", |row| row.share.benchmark.clone()),
    ("contender", |row| row.share.label.clone()),
    ("baseline", |row| row.share.baseline.clone()),
    ("step_label", |row| row.share.step.label.clone()),
    ("connections", |row| whole(row.share.step.connections)),
    ("quantity", |row| row.quantity.name().to_owned()),
    ("unit", |row| row.quantity.unit().to_owned()),
    ("contender_mean", |row| decimal(Some(row.ratio.contender))),
    ("baseline_mean", |row| decimal(Some(row.ratio.baseline))),
    ("percent", |row| percent(Some(row.ratio.ratio.point))),
    ("percent_low", |row| {
        percent(row.ratio.ratio.interval.map(|ends| ends.low))
    }),
    ("percent_high", |row| {
        percent(row.ratio.ratio.interval.map(|ends| ends.high))
    }),
    ("runs", |row| row.ratio.ratio.runs.to_string()),
    ("validity", |row| row.ratio.validity.name().to_owned()),
];

/// A row for each quantity of each contender and its baseline at each step as CSV; `None` where no
/// contender is measured with its baseline.
#[must_use]
pub fn overhead_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = analysis.overheads.iter().flat_map(|overhead| {
        let shares = overhead.shares.iter();
        shares.flat_map(move |share| {
            let each = Quantity::ALL.iter().zip(&share.ratios);
            each.filter_map(move |(quantity, ratio)| {
                Some(Row {
                    overhead,
                    share,
                    quantity: *quantity,
                    ratio: ratio.as_ref()?,
                })
            })
        })
    });
    let cells = |row: Row<'_>| COLUMNS.map(|(_, cell)| cell(&row)).to_vec();
    let rows: Vec<Vec<String>> = rows.map(cells).collect();
    let header = COLUMNS.map(|(name, _)| name.to_owned()).to_vec();
    (!rows.is_empty()).then(|| table(header, rows.into_iter()))
}

fn percent(ratio: Option<f64>) -> String {
    decimal(ratio.map(|ratio| ratio * 100.0))
}
