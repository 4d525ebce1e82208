//! The metrics that contenders count themselves.

use super::{Section, SectionItem};
use crate::render::table::{Cell, Column, Table};
use bakeoff_analysis::explain::own_metrics::{OwnMetricRow, OwnMetrics};

const COLUMNS: &[Column<OwnMetricRow>] = &[
    Column::text("metric", |row: &OwnMetricRow| Cell::text(&row.name)),
    Column::text("contender", |row: &OwnMetricRow| Cell::name(&row.label)),
    Column::new("growth per request", |row: &OwnMetricRow| {
        Cell::metric(row.per_request.as_ref())
    })
    .help("of a counter"),
    Column::new("95 %", |row: &OwnMetricRow| {
        Cell::interval(row.per_request.as_ref())
    })
    .not_on_page(),
    Column::new("last value", |row: &OwnMetricRow| {
        Cell::metric(row.value.as_ref())
    })
    .help("of a gauge, after the step"),
    Column::new("95 %", |row: &OwnMetricRow| {
        Cell::interval(row.value.as_ref())
    })
    .not_on_page(),
];

/// The section on contenders' own metrics; `None` if there are none.
pub(super) fn section(metrics: &OwnMetrics) -> Option<Section> {
    if metrics.is_empty() {
        return None;
    }
    let mut parts: Vec<SectionItem> = metrics
        .remarks
        .iter()
        .cloned()
        .map(SectionItem::Note)
        .collect();
    if !metrics.rows.is_empty() {
        parts.push(SectionItem::Note(format!(
            "As each service counts them: how much a counter grew over the step {}, divided by the \
             requests that ended in it, and what a gauge said after it; means over runs or sets. \
             They were read before and after the step, without load.",
            metrics.at
        )));
        parts.push(SectionItem::Table(Table::of(COLUMNS, &metrics.rows)));
    }
    Some(Section {
        title: "Metrics of the services themselves",
        parts,
    })
}
