//! Benchmarks of capacities: which contender sustains which rate.

use maud::{Markup, html};

use super::{failures, ranks, table};
use crate::render::table::capacity;
use bakeoff_analysis::benchmarks::capacity::{CapacitySummary, CapacityTable};

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
    html! {
        @if !one.rows.is_empty() {
            h4.fair { "Capacity: " (one.objective) }
            (ranks::conclusions(&one.conclusions))
            (table::of("ranks", &capacity::table(&one.rows)))
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
