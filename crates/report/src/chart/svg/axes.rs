//! The grid of a drawing, its axes, and what is written at them.

use maud::{Markup, html};

use super::layout::{LETTERS_MAX, Plot, Rows, Size, cut, reference};
use super::scale::Placed;
use crate::chart::{Axis, Chart};
use bakeoff_analysis::data::number::count;

/// The axes of a chart. What is below its rows, and what crosses them, has a class, because rows
/// of contenders that are switched off are closed on the page.
pub(super) fn drawn(chart: &Chart, plot: &Plot, (x, y): (&Placed, &Placed), size: Size) -> Markup {
    html! {
        g.across {
            @for (place, _) in x.ticks() {
                line.grid x1=(place) x2=(place) y1=(plot.top) y2=(plot.bottom) {}
            }
            @if let Some(none) = reference(chart).and_then(|value| x.place(value)) {
                line.axis x1=(none) x2=(none) y1=(plot.top) y2=(plot.bottom)
                    stroke-dasharray="5 4" {}
            }
        }
        @match plot.rows {
            Some(rows) => (row_names(plot, y, &rows, size)),
            None => (numbers(chart, plot, y)),
        }
        g.foot { (foot(&chart.x, plot, x, size)) }
    }
}

fn numbers(chart: &Chart, plot: &Plot, y: &Placed) -> Markup {
    html! {
        @for (place, text) in y.ticks() {
            line.grid x1=(plot.left) x2=(plot.right) y1=(place) y2=(place) {}
            text.soft x=(plot.left - 8.0) y=(place + 4.0) text-anchor="end" { (text) }
        }
        text.soft x=(16.0_f64.min(plot.left)) y=(plot.top - 17.0) { (chart.y.name) }
    }
}

fn row_names(plot: &Plot, y: &Placed, rows: &Rows, size: Size) -> Markup {
    html! {
        @for (row, (place, text)) in y.ticks().into_iter().enumerate() {
            g data-row=(row) {
                @let middle = place + rows.down();
                line.grid x1=(plot.left) x2=(plot.right) y1=(middle) y2=(middle) {}
                @if rows.above {
                    text.soft x=(plot.left) y=(place - 3.0) {
                        (cut(&text, plot.letters(size)))
                    }
                } @else {
                    text.soft x=(plot.left - 8.0) y=(place + 4.0) text-anchor="end" {
                        (cut(&text, LETTERS_MAX))
                    }
                }
            }
        }
    }
}

/// The horizontal axis. Texts that would touch each other are thinned out.
fn foot(axis: &Axis, plot: &Plot, x: &Placed, size: Size) -> Markup {
    let ticks = x.ticks();
    let letters = ticks.iter().map(|(_, text)| text.chars().count());
    let wanted = size.letter * count(letters.max().unwrap_or(0)) + size.letter;
    let room = (plot.right - plot.left) / count(ticks.len().max(1));
    let every = (1..=ticks.len()).find(|every| count(*every) * room >= wanted);
    let middle = f64::midpoint(plot.left, plot.right);
    html! {
        @for (place, text) in ticks.iter().step_by(every.unwrap_or(1)) {
            text.soft x=(place) y=(plot.bottom + 18.0) text-anchor="middle" { (text) }
        }
        line.axis x1=(plot.left) x2=(plot.right) y1=(plot.bottom) y2=(plot.bottom) {}
        text.soft x=(middle) y=(plot.bottom + 40.0) text-anchor="middle" { (axis.name) }
    }
}
