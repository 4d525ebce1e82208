//! Sections below the ranks of a benchmark.

use std::fmt::Write as _;

use super::table::{self, escape};
use crate::render::section::{Section, SectionItem};

pub(super) fn push(text: &mut String, section: &Section) {
    let _ = write!(text, "\n### {}\n", section.title);
    for part in &section.parts {
        match part {
            SectionItem::Note(note) => {
                let _ = write!(text, "\n{}\n", escape(note));
            }
            SectionItem::Table(one) => table::push(text, one),
        }
    }
}
