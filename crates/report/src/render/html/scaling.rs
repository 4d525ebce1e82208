//! Contenders along a parameter with numbers.

use maud::{Markup, html};

use super::table;
use crate::render::table::overhead;
use bakeoff_analysis::benchmarks::scaling::Scaling;
use bakeoff_analysis::data::metric::Quantity;

/// A table for each quantity, of which the first is open.
pub(super) fn tables(scaling: &Scaling) -> Markup {
    let parameter = &scaling.parameter;
    html! {
        h4 { "By " (parameter) }
        p.hint { "Mean over runs with its 95 % interval, at the same step for all values." }
        @for (place, quantity) in Quantity::ALL.into_iter().enumerate() {
            details open[place == 0] {
                summary { (quantity.title()) " by " (parameter) }
                (table::of("", &overhead::scaling(scaling, place)))
            }
        }
    }
}
