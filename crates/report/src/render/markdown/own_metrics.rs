//! The metrics that contenders count themselves, as Markdown.

use std::fmt::Write as _;

use super::{Column, escape, marked, push_table_of};
use crate::render::own_metrics_method;
use bakeoff_analysis::metric::Metric;
use bakeoff_analysis::number::range;
use bakeoff_analysis::own_metrics::{OwnMetricRow, OwnMetrics};

const COLUMNS: [Column; 6] = [
    ("<", "metric"),
    ("<", "contender"),
    (">", "growth per request"),
    (">", "95 %"),
    (">", "last value"),
    (">", "95 %"),
];

/// Nothing where none were to be read.
pub(super) fn push(text: &mut String, metrics: &OwnMetrics) {
    if metrics.is_empty() {
        return;
    }
    text.push_str("\n### Metrics of the services themselves\n");
    for remark in &metrics.remarks {
        let _ = write!(text, "\n{}\n", escape(remark));
    }
    if !metrics.rows.is_empty() {
        let _ = write!(text, "\n{}\n", own_metrics_method(metrics));
    }
    push_table_of(text, &COLUMNS, metrics.rows.iter().map(cells).collect());
}

fn cells(row: &OwnMetricRow) -> Vec<String> {
    let [growth, growth_range] = numbers(row.per_request.as_ref());
    let [value, value_range] = numbers(row.value.as_ref());
    let names = [escape(&row.name), escape(&row.label)];
    let numbers = [growth, growth_range, value, value_range];
    names.into_iter().chain(numbers).collect()
}

/// The mean and its interval.
fn numbers(metric: Option<&Metric>) -> [String; 2] {
    metric.map_or_else(Default::default, |metric| {
        let mean = marked(&metric.validity, Some(metric.mean()));
        [mean, range(&metric.estimate)]
    })
}
