//! Contenders along a parameter with numbers.

use maud::{Markup, html};

use super::table;
use bakeoff_analysis::metric::Quantity;
use bakeoff_analysis::scaling::Scaling;

/// A table for each quantity, of which the first is open.
pub(super) fn tables(scaling: &Scaling) -> Markup {
    let parameter = &scaling.parameter;
    html! {
        h4 { "By " (parameter) }
        p.hint { "Mean over runs with its 95 % interval, at the same step for all values." }
        @for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
            details open[place == 0] {
                summary { (quantity.title()) " by " (parameter) }
                (table::framed("", &one_table(scaling, place)))
            }
        }
    }
}

fn one_table(scaling: &Scaling, place: usize) -> Markup {
    html! {
        thead {
            tr {
                th scope="col" { "contender" }
                th scope="col" { "at" }
                @for value in &scaling.values { th scope="col" { (value) } }
            }
        }
        tbody {
            @for line in &scaling.lines {
                @for (step, shown) in scaling.steps.iter().enumerate() {
                    tr {
                        th scope="row" { (line.label) }
                        td { (shown.label) }
                        @for value in 0..scaling.values.len() {
                            td { (table::metric(line.metric(value, step, place))) }
                        }
                    }
                }
            }
        }
    }
}
