//! The charts of a benchmark, the price of its requests, and when its contenders were warm.

use maud::{Markup, html};

use super::panels::{BEST, Panel};
use super::{anchor, table};
use crate::chart::svg::{self, Drawing};
use crate::chart::{Chart, bands};
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::significant;
use bakeoff_analysis::data::price;
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::data::stated_step::StatedStep;
use bakeoff_analysis::tables::steady::{CaseWarmUp, WarmUp};
use bakeoff_analysis::tables::summary::BenchmarkSummary;

/// The charts of a panel, under a legend by which the script shows and hides.
pub(super) fn section(index: usize, panel: &Panel<'_>) -> Markup {
    html! {
        div.panel data-panel=(index) {
            (legend(panel))
            div.charts {
                @for (place, chart) in panel.charts.iter().enumerate() {
                    (framed(&anchor::figure(index, chart.id), place, chart))
                }
            }
        }
    }
}

fn framed(id: &str, place: usize, chart: &Chart) -> Markup {
    html! {
        figure id=(id) {
            figcaption {
                h4 { (chart.title) " " (to_here(id)) }
                p { (chart.note) }
            }
            div.chart data-chart=(place) tabindex="0" role="img" aria-label=(chart.title) {
                (Drawing::of_page(chart).inline())
            }
            details.data data-chart=(place) { summary { "Data" } }
        }
    }
}

/// A button for each name. Of many contenders only the best are on at first.
fn legend(panel: &Panel<'_>) -> Markup {
    let best = panel.best();
    let is_on = |case: usize| best.is_empty() || best.contains(&case);
    let has_runs = panel.charts.iter().any(bands::is_merged);
    html! {
        div.legend role="group" aria-label="Contenders shown" {
            @for (case, name) in panel.cases.iter().enumerate() {
                (switch(name, svg::sample(case, false), is_on(case)))
            }
            @for one in &panel.published {
                (switch(&one.name, svg::sample(one.case, true), true))
            }
            @if panel.has_published() {
                button type="button" data-act="published" { "published" }
            }
            @if !best.is_empty() {
                span.hint {
                    "At first the " (BEST) " with the highest peaks of " (panel.cases.len())
                    " are shown."
                }
            }
            @if has_runs {
                button type="button" data-act="runs" aria-pressed="false" { "all runs" }
            }
            @if panel.cases.len() + panel.published.len() > 2 {
                button type="button" data-act="all" { "all" }
                button type="button" data-act="none" { "none" }
            }
        }
    }
}

fn switch(name: &str, sample: Markup, is_on: bool) -> Markup {
    html! {
        button type="button" data-name=(name) aria-pressed=(is_on) { (sample) (name) }
    }
}

/// The address of a chart.
fn to_here(id: &str) -> Markup {
    html! { a.here href={ "#" (id) } aria-label="Link to this chart" { "#" } }
}

/// Returns the cost of a billion requests. The page recomputes it for another price.
pub(super) fn cost(summary: &BenchmarkSummary) -> Markup {
    let mut rows: Vec<(&Row, &Metric)> = summary
        .rows()
        .filter_map(|row| Some((row, row.stated.cpu_us.as_ref()?)))
        .collect();
    let at = summary.stated.as_ref().map(StatedStep::describe);
    let at = at.unwrap_or_default();
    rows.sort_by(|(_, a), (_, b)| a.estimate.point.total_cmp(&b.estimate.point));
    html! {
        @if !rows.is_empty() {
            h4 { "What 10" sup { "9" } " requests cost" }
            p {
                label {
                    "$ "
                    input.price type="number" min="0" step="0.0005" value=(price::PER_CPU_HOUR);
                    " for one CPU for one hour"
                }
                ". CPU time only: memory, traffic and idle machines are not in it."
            }
            (table::framed("cost", &html! {
                thead {
                    tr {
                        th scope="col" { "contender" }
                        th scope="col" { "CPU µs/request " (at) }
                        th scope="col" { "$ for 10" sup { "9" } }
                        th scope="col" { "CPU µs/request, whole life" }
                        th scope="col" { "$ for 10" sup { "9" } }
                    }
                }
                tbody {
                    @for (row, cpu) in rows {
                        tr {
                            th scope="row" { (row.label) }
                            (priced(Some(cpu)))
                            (priced(row.whole.cpu_us.as_ref()))
                        }
                    }
                }
            }))
        }
    }
}

fn priced(cpu_us: Option<&Metric>) -> Markup {
    html! {
        @match cpu_us {
            Some(metric) => {
                @let cpu_us = metric.estimate.point;
                td { (significant(cpu_us)) (table::mark(metric)) }
                @let dollars = price::of_billion(cpu_us, price::PER_CPU_HOUR);
                td.dollars data-us=(cpu_us) { (significant(dollars)) }
            }
            None => { td { "–" } td { "–" } }
        }
    }
}

/// When each run was warm and what it had cost by then.
pub(super) fn warm_up(cases: &[CaseWarmUp]) -> Markup {
    html! {
        @if !cases.is_empty() {
            h4 { "Until warm" }
            p {
                "Time under load, requests, and CPU time since its start until the throughput of a \
                 run stayed within 3 % of its later level, found by change points in the slices of \
                 the first load, or of the warm-up until steady. One column for each run."
            }
            (table::framed("", &html! {
                tbody {
                    @for case in cases {
                        tr {
                            th scope="row" { (case.label) }
                            @for run in &case.runs { td { (warm(*run)) } }
                        }
                    }
                }
            }))
        }
    }
}

fn warm(run: WarmUp) -> Markup {
    html! {
        @match run {
            WarmUp::NotSteady { watched_s } => { "not steady in " (significant(watched_s)) " s" }
            WarmUp::Steady { after_s, requests, cpu_s } => {
                (significant(after_s)) " s, " (requests) " requests"
                @if let Some(cpu_s) = cpu_s { ", " (significant(cpu_s)) " CPU s" }
            }
        }
    }
}
