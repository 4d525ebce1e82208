//! The metrics that contenders count themselves, as a table.

use maud::{Markup, html};

use super::table::{self, Heading};
use crate::render::own_metrics_method;
use bakeoff_analysis::own_metrics::{OwnMetricRow, OwnMetrics};

const HEADINGS: [Heading; 4] = [
    ("metric", ""),
    ("contender", ""),
    ("growth per request", "of a counter"),
    ("last value", "of a gauge, after the step"),
];

/// Empty where none were to be read.
pub(super) fn section(metrics: &OwnMetrics) -> Markup {
    html! {
        @if !metrics.is_empty() {
            h4 { "Metrics of the services themselves" }
            @for remark in &metrics.remarks { p.hint { (remark) } }
            @if !metrics.rows.is_empty() {
                p.hint { (own_metrics_method(metrics)) }
                (table::filled("", &HEADINGS, metrics.rows.iter().map(cells).collect()))
            }
        }
    }
}

fn cells(row: &OwnMetricRow) -> Vec<Markup> {
    vec![
        html! { td.text { (row.name) } },
        html! { th scope="row" { (row.label) } },
        html! { td { (table::metric(row.per_request.as_ref())) } },
        html! { td { (table::metric(row.value.as_ref())) } },
    ]
}
