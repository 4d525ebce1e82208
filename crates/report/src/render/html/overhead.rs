//! Contenders as a share of their baselines: the headline chart, and its numbers.

use maud::{Markup, html};

use super::panels::{self, Panel, PanelSection};
use super::{charts, table};
use crate::render::overhead::{NOTE, without};
use crate::render::table::overhead::shares;
use bakeoff_analysis::benchmarks::overhead::Overhead;
use bakeoff_analysis::data::metric::Quantity;

/// The section on overhead; empty if no contender has a baseline.
pub(super) fn section(overheads: &[Overhead], panels: &[Panel<'_>]) -> Markup {
    html! {
        @if !overheads.is_empty() {
            section id="overhead" {
                h2 { "Percent of the baseline" }
                p.hint { (NOTE) }
                @let panels = panels::at(panels, PanelSection::Overhead);
                @for (overhead, (index, panel)) in overheads.iter().zip(panels) {
                    section.benchmark {
                        p.conditions { (overhead.conditions) }
                        @if !panel.charts.is_empty() { (charts::section(index, panel)) }
                        (tables(overhead))
                        @if !overhead.without.is_empty() {
                            h4 { "No percentage" }
                            ul.reasons {
                                @for one in &overhead.without { li { (without(one)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A table for each quantity, of which the first is open.
fn tables(overhead: &Overhead) -> Markup {
    html! {
        @if !overhead.lines().is_empty() {
            @for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
                details open[place == 0] {
                    summary { "Percent of the baseline: " (quantity.name()) }
                    (table::of("overhead", &shares(overhead, quantity, place)))
                }
            }
            p.hint { "Every step, with the means behind each percentage: overhead.csv." }
        }
    }
}
