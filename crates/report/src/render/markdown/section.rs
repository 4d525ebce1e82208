//! Sections below the ranks of a benchmark.

use std::fmt::Write as _;

use super::table::{self, escape};
use crate::render::section::{Part, Section};

pub(super) fn push(text: &mut String, section: &Section) {
    let _ = write!(text, "\n### {}\n", section.title);
    for part in &section.parts {
        match part {
            Part::Note(note) => {
                let _ = write!(text, "\n{}\n", escape(note));
            }
            Part::Table(one) => table::push(text, one),
        }
    }
}
