//! Sections below the ranks of a benchmark.

use maud::{Markup, html};

use super::table;
use crate::render::section::{Part, Section};

pub(super) fn section(section: &Section) -> Markup {
    html! {
        h4 { (section.title) }
        @for part in &section.parts {
            @match part {
                Part::Note(note) => p.hint { (note) },
                Part::Table(one) => (table::of("", one)),
            }
        }
    }
}
