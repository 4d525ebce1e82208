//! The charts of a benchmark, the price of its requests, and when its contenders were warm.

use maud::{Markup, html};

use super::{anchor, table};
use crate::chart::Chart;
use bakeoff_analysis::metric::Metric;
use bakeoff_analysis::number::significant;
use bakeoff_analysis::price;
use bakeoff_analysis::row::Row;
use bakeoff_analysis::stated_step::StatedStep;
use bakeoff_analysis::steady::{CaseWarmUp, WarmUp};
use bakeoff_analysis::summary::BenchmarkSummary;

/// Room for the charts; the script draws into it when they come into view.
pub(super) fn section(benchmark: usize, charts: &[Chart]) -> Markup {
    html! {
        div.legend data-benchmark=(benchmark) role="group" aria-label="Contenders shown" {}
        div.charts {
            @for (index, chart) in charts.iter().enumerate() {
                @let id = anchor::figure(benchmark, chart.id);
                figure id=(id) {
                    figcaption {
                        h4 { (chart.title) " " (to_here(&id)) }
                        p { (chart.note) }
                    }
                    div.chart data-benchmark=(benchmark) data-chart=(index) role="img"
                        aria-label=(chart.title) {}
                    details.data data-benchmark=(benchmark) data-chart=(index) {
                        summary { "Data" }
                    }
                }
            }
        }
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
        .filter_map(|row| Some((row, row.cpu_us.as_ref()?)))
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
                            (priced(row.cpu_us_whole.as_ref()))
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
