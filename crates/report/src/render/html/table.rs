//! What tables have in common: the frame that scrolls, headings, and cells of numbers.

use bakeoff_model::validity::{Validity, Verdict};
use bakeoff_stats::Estimate;
use maud::{Markup, html};

use bakeoff_analysis::metric::Metric;
use bakeoff_analysis::number::{range, significant, spread};

/// A heading, and what it means where that needs a sentence.
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

/// Whether there is nothing, or a dash, between the tags of a cell.
fn is_empty(cell: &Markup) -> bool {
    let text = cell.0.split_once('>').map_or("", |(_, text)| text);
    text.starts_with("</") || text.starts_with("–</")
}

/// A mean with half of its interval's width.
pub(super) fn estimate(estimate: &Estimate) -> Markup {
    html! {
        b { (significant(estimate.point)) }
        @if estimate.interval.is_some() {
            " " small title={ "95 % interval " (range(estimate)) } { (spread(estimate)) }
        }
    }
}

/// The mean of a metric, marked when the steps behind it are not fair.
pub(super) fn metric(metric: Option<&Metric>) -> Markup {
    html! {
        @match metric {
            Some(metric) => { (estimate(&metric.estimate)) (mark(metric)) }
            None => "–",
        }
    }
}

/// A sign on a number that is not fair, with the steps behind it and why.
pub(super) fn mark(metric: &Metric) -> Markup {
    mark_of(&metric.validity, || reason(metric))
}

/// A sign where a verdict is not fair, with what is wrong.
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
pub(super) fn class(validity: &Validity) -> Option<&'static str> {
    match validity.verdict() {
        Verdict::Fair => None,
        Verdict::Invalid => Some("invalid"),
        _ => Some("bound"),
    }
}

/// A bar as long as the share of the largest number of its column.
pub(super) fn bar(value: f64, largest: f64) -> Markup {
    let share = if largest > 0.0 {
        (value / largest * 100.0).min(100.0)
    } else {
        0.0
    };
    html! { span.bar style={ "--share:" (format!("{share:.1}")) "%" } {} }
}

/// `33/33`; nothing to count is a dash, less than all is marked.
pub(super) fn fraction(good: usize, total: usize) -> Markup {
    html! {
        @match (good, total) {
            (_, 0) => "–",
            (good, total) if good == total => { (good) "/" (total) }
            (good, total) => span.bad { (good) "/" (total) },
        }
    }
}
