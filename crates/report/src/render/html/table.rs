//! Parts of all tables: the frame that scrolls, headings, and cells of numbers.

use bakeoff_model::validity::{FairnessVerdict, Validity};
use bakeoff_stats::Estimate;
use maud::{Markup, html};

use crate::render::table::{Cell, Mark, Table};
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::{range, significant, spread};

/// A heading, and its meaning if that needs a sentence.
pub(super) type Heading = (&'static str, &'static str);

/// A table of that class in a frame that scrolls, below the place for its tools. Facts are read and
/// not computed with.
pub(super) fn framed(class: &str, content: &Markup) -> Markup {
    html! {
        @if class != "facts" { div.tools {} }
        // A frame that scrolls must be reachable by keyboard.
        div.scroll tabindex="0" {
            table class=[(!class.is_empty()).then_some(class)] { (content) }
        }
    }
}

/// The row of headings.
pub(super) fn head(headings: &[Heading]) -> Markup {
    html! {
        thead {
            tr {
                @for (name, title) in headings {
                    th scope="col" class=[(*name == "contender").then_some("label")]
                        title=[(!title.is_empty()).then_some(title)] { (name) }
                }
            }
        }
    }
}

/// A framed table of whole cells, without the columns in which no row has anything.
pub(super) fn filled(class: &str, headings: &[Heading], rows: Vec<Vec<Markup>>) -> Markup {
    let is_filled = |column: &usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(*column));
        cells.any(|cell| !is_empty(cell))
    };
    let columns: Vec<usize> = (0..headings.len()).filter(is_filled).collect();
    let headings: Vec<Heading> = columns.iter().map(|column| headings[*column]).collect();
    framed(
        class,
        &html! {
            (head(&headings))
            tbody {
                @for row in &rows {
                    @let cells = columns.iter().filter_map(|column| row.get(*column));
                    tr { @for cell in cells { (cell) } }
                }
            }
        },
    )
}

/// A table in a frame, without the columns in which no row has anything.
pub(super) fn of(class: &str, table: &Table) -> Markup {
    let columns = table.filled(|heading| heading.page.is_some());
    let largest = |column: usize| {
        let points = table.rows.iter().map(|row| match &row[column] {
            Cell::Ranked(estimate, _) => estimate.point,
            _ => 0.0,
        });
        points.fold(0.0, f64::max)
    };
    let columns: Vec<(usize, f64)> = columns.into_iter().map(|one| (one, largest(one))).collect();
    let class_of = |column: usize| match table.rows.first().map(|row| &row[column]) {
        Some(Cell::Name(..)) => Some("label"),
        Some(Cell::Text(_)) => Some("text"),
        _ => None,
    };
    framed(
        class,
        &html! {
            thead {
                tr {
                    @for (column, _) in &columns {
                        @let heading = &table.headings[*column];
                        th scope="col" class=[class_of(*column)]
                            title=[(!heading.help.is_empty()).then_some(&heading.help)]
                            { (heading.page.as_deref().unwrap_or_default()) }
                    }
                }
            }
            tbody {
                @for row in &table.rows {
                    tr { @for (column, largest) in &columns { (cell(&row[*column], *largest)) } }
                }
            }
        },
    )
}

fn cell(cell: &Cell, largest: f64) -> Markup {
    html! {
        @match cell {
            Cell::Rank(rank) => td.rank { (rank) },
            Cell::Name(name, notes) => {
                th scope="row" { (name) @for note in notes { small.note { (note) } } }
            }
            Cell::Text(text) => td.text { (text) },
            Cell::Ranked(mean, mark) => {
                td { (bar(mean.point, largest)) (estimate(mean)) (badge(mark.as_ref())) }
            }
            Cell::Mean(Some(mean), mark) | Cell::Spread(Some(mean), mark) => {
                td { (estimate(mean)) (sign(mark.as_ref())) }
            }
            Cell::Share { percent, interval, means, mark } => {
                td {
                    span title=(means) { b { (percent) " %" } " " small { (interval) } }
                    (sign(mark.as_ref()))
                }
            }
            Cell::Fraction(good, total) => td { (fraction(*good, *total)) },
            Cell::Errors(count @ 1.., share) => {
                td { span.bad { (count) } " " small { (significant(share * 100.0)) " %" } }
            }
            other => td { (other.plain()) (sign(other.mark())) },
        }
    }
}

/// The verdict as a badge; what is fair needs none.
fn badge(mark: Option<&Mark>) -> Markup {
    html! {
        @if let Some(mark) = mark {
            @let class = class(&mark.validity).unwrap_or_default();
            " " span class={ "badge " (class) } title=(mark.reason) { (mark.validity.name()) }
        }
    }
}

/// A sign on a number that is not fair.
fn sign(mark: Option<&Mark>) -> Markup {
    html! {
        @if let Some(mark) = mark { (mark_of(&mark.validity, || mark.reason.clone())) }
    }
}

/// Whether there is nothing, or a dash, between the tags of a cell.
fn is_empty(cell: &Markup) -> bool {
    let text = cell.0.split_once('>').map_or("", |(_, text)| text);
    text.starts_with("</") || text.starts_with("–</")
}

/// A mean with half of its interval's width.
fn estimate(estimate: &Estimate) -> Markup {
    html! {
        b { (significant(estimate.point)) }
        @if estimate.interval.is_some() {
            " " small title={ "95 % interval " (range(estimate)) } { (spread(estimate)) }
        }
    }
}

/// A sign on a number that is not fair, with the steps behind it and why.
pub(super) fn mark(metric: &Metric) -> Markup {
    mark_of(&metric.validity, || reason(metric))
}

/// A sign for a verdict that is not fair, with what is wrong.
pub(super) fn mark_of(validity: &Validity, reason: impl Fn() -> String) -> Markup {
    html! {
        @if let Some(class) = class(validity) {
            " " abbr class={ "mark " (class) } title=(reason()) { "!" }
        }
    }
}

/// `over 8 to 1024 host-bound: 1.93 of 2 cores were used`.
pub(super) fn reason(metric: &Metric) -> String {
    format!("{} {}", metric.steps_text(), metric.validity)
}

/// The style of a verdict; fair has none.
fn class(validity: &Validity) -> Option<&'static str> {
    match validity.verdict() {
        FairnessVerdict::Fair => None,
        FairnessVerdict::Invalid => Some("invalid"),
        _ => Some("bound"),
    }
}

/// A bar as long as the share of the largest number of its column.
fn bar(value: f64, largest: f64) -> Markup {
    let share = if largest > 0.0 {
        (value / largest * 100.0).min(100.0)
    } else {
        0.0
    };
    html! { span.bar style={ "--share:" (format!("{share:.1}")) "%" } {} }
}

/// `33/33`; nothing to count is a dash, less than all is marked.
fn fraction(good: usize, total: usize) -> Markup {
    html! {
        @match (good, total) {
            (_, 0) => "–",
            (good, total) if good == total => { (good) "/" (total) }
            (good, total) => span.bad { (good) "/" (total) },
        }
    }
}
