//! Contenders as a share of their baselines: the headline figure, and its numbers.

use maud::{Markup, html};

use super::panels::{self, Panel, Place};
use super::{charts, table};
use crate::render::overhead::{NOTE, interval, percent, without};
use bakeoff_analysis::metric::Quantity;
use bakeoff_analysis::number::significant;
use bakeoff_analysis::overhead::{Line, Overhead, Ratio, Share};

/// Empty where no contender has a baseline.
pub(super) fn section(overheads: &[Overhead], panels: &[Panel<'_>]) -> Markup {
    html! {
        @if !overheads.is_empty() {
            section id="overhead" {
                h2 { "Percent of the baseline" }
                p.hint { (NOTE) }
                @let panels = panels::at(panels, Place::Overhead);
                @for (overhead, (index, panel)) in overheads.iter().zip(panels) {
                    section.benchmark {
                        p.conditions { (overhead.conditions) }
                        @if !panel.charts.is_empty() { (charts::section(index, &panel.charts)) }
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
    let lines = overhead.lines();
    let benchmarks = overhead.benchmarks();
    html! {
        @if !lines.is_empty() {
            @for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
                details open[place == 0] {
                    summary { "Percent of the baseline: " (quantity.name()) }
                    (one_table(&lines, &benchmarks, quantity, place))
                }
            }
            p.hint { "Every step, with the means behind each percentage: overhead.csv." }
        }
    }
}

fn one_table(lines: &[Line<'_>], benchmarks: &[&str], quantity: Quantity, place: usize) -> Markup {
    table::framed(
        "overhead",
        &html! {
            thead {
                tr {
                    th scope="col" { "contender" }
                    th.text scope="col" { "of" }
                    th scope="col" { "at" }
                    @for name in benchmarks { th scope="col" { (name) } }
                }
            }
            tbody {
                @for line in lines {
                    tr {
                        th scope="row" { (line.label) }
                        td.text { (line.baseline) }
                        td { (line.step.label) }
                        @for share in &line.shares {
                            td { (cell(*share, quantity, place)) }
                        }
                    }
                }
            }
        },
    )
}

fn cell(share: Option<&Share>, quantity: Quantity, place: usize) -> Markup {
    let ratio: Option<&Ratio> = share.and_then(|share| share.ratios[place].as_ref());
    html! {
        @match ratio {
            Some(ratio) => {
                @let (own, other) = (significant(ratio.contender), significant(ratio.baseline));
                span title={ (own) " of " (other) " " (quantity.unit()) ", means over runs" } {
                    b { (percent(ratio)) " %" } " " small { (interval(ratio)) }
                }
                (table::mark_of(&ratio.validity, || {
                    ratio.validity.to_string()
                }))
            }
            None => "–",
        }
    }
}
