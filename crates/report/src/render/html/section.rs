//! Sections below the ranks of a benchmark.

use maud::{Markup, html};

use super::table;
use crate::render::section::{Section, SectionItem};

pub(super) fn section(section: &Section) -> Markup {
    html! {
        h4 { (section.title) }
        @for part in &section.parts {
            @match part {
                SectionItem::Note(note) => p.hint { (note) },
                SectionItem::Table(one) => (table::of("", one)),
            }
        }
    }
}
