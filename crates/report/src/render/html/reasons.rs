//! Why requests of two contenders differ in CPU.

use maud::{Markup, html};

use super::table::{self, Heading};
use crate::render::reasons;
use bakeoff_analysis::reasons::Reasons;

/// More sentences than this are folded away behind the first ones.
const OPEN: usize = 3;

/// A sentence for each pair whose CPU per request differs.
pub(super) fn sentences(all: &[Reasons]) -> Markup {
    let sentences: Vec<String> = all.iter().filter_map(Reasons::sentence).collect();
    let (open, folded) = sentences.split_at(sentences.len().min(OPEN));
    html! {
        @if !open.is_empty() { ul { @for one in open { li { (one) } } } }
        @if !folded.is_empty() {
            details {
                summary { "Why CPU per request differs: " (folded.len()) " more" }
                ul { @for one in folded { li { (one) } } }
            }
        }
    }
}

/// Every part of the difference of each pair.
pub(super) fn tables(all: &[Reasons]) -> Markup {
    html! {
        @if !all.is_empty() {
            details {
                summary { "Why CPU per request differs, part by part" }
                p.hint { (reasons::METHOD) " " (MARK) ": " (reasons::MARKED) "." }
                @for pair in all { (of_pair(pair)) }
            }
        }
    }
}

const MARK: &str = "*";

const HEADINGS: [Heading; 5] = [
    ("for each request", ""),
    ("the one with more CPU", ""),
    ("the other", ""),
    ("difference", ""),
    ("95 % interval", ""),
];

fn of_pair(pair: &Reasons) -> Markup {
    let rows = pair.all().map(|one| {
        let [name, cells @ ..] = reasons::row(one, MARK);
        let mut row = vec![html! { th scope="row" { (name) } }];
        row.extend(cells.map(|cell| html! { td { (cell) } }));
        row
    });
    html! {
        h5 { (pair.dearer) " against " (pair.cheaper) ", " (pair.at) }
        (table::filled("", &HEADINGS, rows.collect()))
    }
}
