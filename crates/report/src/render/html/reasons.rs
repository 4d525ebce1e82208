//! Reasons why requests of two contenders differ in CPU.

use maud::{Markup, html};

use super::table;
use crate::render::table::reasons;
use bakeoff_analysis::explain::reasons::Reasons;

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
                p.hint { (reasons::METHOD) " " (reasons::MARKED) }
                @for pair in all {
                    h5 { (pair.dearer) " against " (pair.cheaper) ", " (pair.at) }
                    (table::of("", &reasons::table(pair)))
                }
            }
        }
    }
}
