//! Benchmarks of capacities: which contender sustains which rate.

use maud::{Markup, html};

use super::table::{self, Heading};
use super::{failures, ranks};
use bakeoff_analysis::capacity::{CapacityRow, CapacitySummary, CapacityTable};
use bakeoff_analysis::comparison::rank_text;
use bakeoff_analysis::number::significant_or_dash;

const HEADINGS: [Heading; 7] = [
    ("#", ""),
    ("contender", ""),
    (
        "req/s",
        "geometric mean over runs, 95 % interval; with one run the interval of its own search",
    ),
    (
        "last before failure",
        "the highest rate that was met below the lowest that was missed, geometric mean over runs",
    ),
    (
        "CPU us/req",
        "at the trial that was met next to the capacity, mean over runs",
    ),
    (
        "confirmed",
        "later runs that held what the runs before them had found, of those that tried",
    ),
    ("runs", "with a capacity, of those that were begun"),
];

pub(super) fn section(summary: &CapacitySummary, index: usize) -> Markup {
    html! {
        section.benchmark id={ "results-" (index) } {
            h3 { (summary.name) }
            p.conditions { (summary.conditions) }
            p.hint { (summary.how) }
            @for one in &summary.tables { (objective(one)) }
            (failures::failed_runs(&summary.failures))
        }
    }
}

fn objective(one: &CapacityTable) -> Markup {
    let highest = one
        .rows
        .iter()
        .map(|row| row.rate.point)
        .fold(0.0, f64::max);
    html! {
        @if !one.rows.is_empty() {
            h4.fair { "Capacity: " (one.objective) }
            (ranks::conclusions(&one.conclusions))
            @let cells = one.rows.iter().map(|row| cells(row, highest)).collect();
            (table::filled("ranks", &HEADINGS, cells))
        }
        @if !one.remarks.is_empty() {
            ul.reasons { @for remark in &one.remarks { li { (remark) } } }
        }
        @if !one.unranked.is_empty() {
            h4.unfair { "Without a capacity: " (one.objective) }
            (failures::unranked(&one.unranked))
        }
    }
}

fn cells(row: &CapacityRow, highest: f64) -> Vec<Markup> {
    vec![
        html! { td.rank { (rank_text(row.rank, row.tie)) } },
        html! {
            th scope="row" {
                (row.label)
                @if let Some(note) = &row.note { small.note { (note) } }
            }
        },
        html! {
            td {
                (table::bar(row.rate.point, highest))
                (table::estimate(&row.rate))
            }
        },
        html! { td { (significant_or_dash(row.last_before_failure)) } },
        html! { td { (significant_or_dash(row.cpu_us)) } },
        html! { td { (table::fraction(row.confirmed.met, row.confirmed.held)) } },
        html! { td { (table::fraction(row.runs, row.runs_begun)) } },
    ]
}
