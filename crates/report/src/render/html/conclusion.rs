//! The first screen: each benchmark as a sentence and a chart, and what they are worth. The chart
//! needs no script: it is there when the page is.

use bakeoff_stats::Estimate;
use maud::{Markup, html};

use super::anchor;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::number::{count, range, significant};
use bakeoff_analysis::data::price;
use bakeoff_analysis::outcome::conclusion::{self, Conclusion, Line, TextSpan};

/// More contenders than this are folded away behind the first ones.
const LINES_OPEN: usize = 12;

/// More contenders with trouble than this are left to the results.
const TROUBLES_MAX: usize = 6;

/// Empty without a measured benchmark.
pub(super) fn section(analysis: &Analysis<'_>) -> Markup {
    let answers = conclusion::answers(analysis);
    html! {
        section id="answer" aria-label="The conclusion" {
            @match answers.as_slice() {
                [] => {},
                [one] => (whole(one, 0)),
                [first, rest @ ..] => {
                    h2 { (first.name) }
                    (whole(first, 0))
                    h2 { "And in the other benchmarks" }
                    @for (index, one) in rest.iter().enumerate() { (folded(one, index + 1)) }
                },
            }
            @if !analysis.warnings.is_empty() {
                ul.warnings { @for warning in &analysis.warnings { li { (warning) } } }
            }
        }
    }
}

fn whole(answer: &Conclusion, index: usize) -> Markup {
    html! {
        p.answer { (sentence(&answer.sentence)) }
        @for one in &answer.two_best { p { (one) } }
        (troubles(&answer.troubles, index))
        (shown(answer, index))
    }
}

fn folded(answer: &Conclusion, index: usize) -> Markup {
    html! {
        details {
            summary { b { (answer.name) } ": " (sentence(&answer.sentence)) }
            @for one in &answer.two_best { p { (one) } }
            (troubles(&answer.troubles, index))
            (shown(answer, index))
        }
    }
}

/// Returns the list of problems, with the contenders that have them.
fn troubles(all: &[(String, String)], index: usize) -> Markup {
    let shown = all.len().min(TROUBLES_MAX);
    html! {
        @if !all.is_empty() {
            ul.warnings {
                @for (label, text) in &all[..shown] { li { b { (label) } ": " (text) } }
                @if shown < all.len() {
                    li { a href={ "#results-" (index) } { (all.len() - shown) " more" } }
                }
            }
        }
    }
}

/// The chart, and below it what it is worth.
fn shown(answer: &Conclusion, index: usize) -> Markup {
    html! {
        (figure(answer, index))
        div.worth {
            h3 { "What it is worth" }
            ul {
                @for one in &answer.worth { li { (one) } }
                li { "Conditions: " (answer.conditions) "." }
                @if let Some(ends) = &answer.price { li { (priced(ends)) } }
                li { a href={ "#results-" (index) } { "The table" } }
            }
        }
    }
}

fn sentence(parts: &[TextSpan]) -> Markup {
    html! {
        @for part in parts {
            @match part {
                TextSpan::Name(label) => b { (label) },
                TextSpan::Number(number) => strong { (number) },
                TextSpan::Text(text) => (text),
            }
        }
    }
}

/// `$0.18 (a) to $1.37 (b)`; the page counts them again for another price.
fn priced(ends: &[(String, f64); 2]) -> Markup {
    let [(cheapest, least), (dearest, most)] = ends;
    html! {
        "CPU for 10" sup { "9" } " requests: $" (dollars(*least)) " (" (cheapest) ")"
        @if cheapest != dearest { " to $" (dollars(*most)) " (" (dearest) ")" }
        ", at $" span.per-hour { (price::PER_CPU_HOUR) } " for one CPU for one hour."
    }
}

fn dollars(cpu_us: f64) -> Markup {
    html! {
        span.dollars data-us=(cpu_us) {
            (significant(price::of_billion(cpu_us, price::PER_CPU_HOUR)))
        }
    }
}

fn figure(answer: &Conclusion, index: usize) -> Markup {
    let largest: Vec<f64> = (0..answer.columns.len())
        .map(|column| {
            let cells = answer.lines.iter();
            let cells = cells.filter_map(|line| line.cells[column]);
            cells
                .map(|(estimate, _)| high(&estimate))
                .fold(0.0, f64::max)
        })
        .collect();
    let (open, rest) = answer.lines.split_at(answer.lines.len().min(LINES_OPEN));
    html! {
        @if !open.is_empty() {
            figure.answer id={ "answer-" (index) } {
                div.line.heads {
                    span.rank {} span.name {}
                    @for column in &answer.columns {
                        span.cell { b { (column.title) } " " small { (column.better) } }
                    }
                }
                (lines(answer, open, &largest))
                @if !rest.is_empty() {
                    details {
                        summary { (rest.len()) " more" }
                        (lines(answer, rest, &largest))
                    }
                }
                figcaption {
                    "Means over runs with their 95 % intervals. Blue: none is significantly \
                     better. “=” and “≈”: not significantly different from, or equivalent to, \
                     another of the rank."
                    @if answer.lines.iter().any(|line| line.caveat.is_some()) {
                        " Hollow: not a fair number; what something else held back is ranked \
                         apart."
                    }
                }
            }
        }
    }
}

fn lines(answer: &Conclusion, lines: &[Line], largest: &[f64]) -> Markup {
    html! {
        ol {
            @for one in lines {
                li.line.leads[one.leads].apart[one.apart] {
                    span.rank { (one.rank) }
                    a.name href={ "#" (anchor::contender(&one.label)) } {
                        (one.label)
                        @if let Some(caveat) = &one.caveat { small.caveat { " " (caveat) } }
                    }
                    @for ((column, cell), largest) in
                        answer.columns.iter().zip(&one.cells).zip(largest)
                    {
                        span.cell {
                            @match cell {
                                Some((estimate, fair)) => {
                                    (whisker(estimate, *fair, *largest, &column.title))
                                }
                                None => "–",
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The number, and its place between 0 and the largest of its column.
fn whisker(estimate: &Estimate, fair: bool, largest: f64, title: &str) -> Markup {
    let percent = |value: f64| format!("{:.1}%", (value / largest * 100.0).clamp(0.0, 100.0));
    let (low, high) = (percent(low(estimate)), percent(high(estimate)));
    let point = percent(estimate.point);
    let interval = range(estimate);
    let words = match interval.is_empty() {
        true => format!("{} {title}, no interval", significant(estimate.point)),
        false => format!("{} {title}, 95 % {interval}", significant(estimate.point)),
    };
    html! {
        span.number title=[(!interval.is_empty()).then(|| format!("95 %: {interval}"))] {
            (significant(estimate.point))
        }
        svg role="img" aria-label=(words) {
            rect.bar x="0" y="8" width=(point) height="4" {}
            @if !interval.is_empty() {
                line x1=(low) x2=(high) y1="10" y2="10" {}
                line x1=(low) x2=(low) y1="6" y2="14" {}
                line x1=(high) x2=(high) y1="6" y2="14" {}
            }
            circle.hollow[!fair] cx=(point) cy="10" r="4.5" {}
        }
    }
}

fn low(estimate: &Estimate) -> f64 {
    estimate.interval.map_or(estimate.point, |ends| ends.low)
}

fn high(estimate: &Estimate) -> f64 {
    let high = estimate.interval.map_or(estimate.point, |ends| ends.high);
    if high.is_finite() {
        high
    } else {
        estimate.point * count(2)
    }
}
