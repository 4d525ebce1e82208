//! Contenders as a share of their baselines, at every step.

use super::{decimal, table};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::metric::Quantity;
use bakeoff_analysis::overhead::{Overhead, Ratio, Share};

const COLUMNS: [&str; 15] = [
    "conditions",
    "benchmark",
    "contender",
    "baseline",
    "step_label",
    "connections",
    "quantity",
    "unit",
    "contender_mean",
    "baseline_mean",
    "percent",
    "percent_low",
    "percent_high",
    "runs",
    "validity",
];

/// A row for each quantity of each contender beside its baseline at each step as CSV; `None` where
/// no contender stands beside its baseline.
#[must_use]
pub fn overhead_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = analysis.overheads.iter().flat_map(|overhead| {
        let shares = overhead.shares.iter();
        shares.flat_map(move |share| {
            let each = Quantity::ALL.iter().zip(&share.ratios);
            each.filter_map(move |(quantity, ratio)| {
                Some(row(overhead, share, *quantity, ratio.as_ref()?))
            })
        })
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let header = COLUMNS.map(str::to_owned).to_vec();
    (!rows.is_empty()).then(|| table(header, rows.into_iter()))
}

fn row(overhead: &Overhead, share: &Share, quantity: Quantity, ratio: &Ratio) -> Vec<String> {
    let percent = |ratio: f64| decimal(Some(ratio * 100.0));
    let interval = ratio.ratio.interval;
    let connections = share.step.connections.map(|count| count.to_string());
    vec![
        overhead.conditions.clone(),
        share.benchmark.clone(),
        share.label.clone(),
        share.baseline.clone(),
        share.step.label.clone(),
        connections.unwrap_or_default(),
        quantity.name().to_owned(),
        quantity.unit().to_owned(),
        decimal(Some(ratio.contender)),
        decimal(Some(ratio.baseline)),
        percent(ratio.ratio.point),
        interval.map_or_else(String::new, |ends| percent(ends.low)),
        interval.map_or_else(String::new, |ends| percent(ends.high)),
        ratio.ratio.runs.to_string(),
        ratio.validity.name().to_owned(),
    ]
}
