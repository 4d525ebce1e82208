//! The legend of a file: the name of each line, in as many rows as it needs.

use maud::{Markup, html};

use super::layout::{LETTERS_MAX, Size, cut};
use super::marks;
use crate::chart::bands::Band;
use bakeoff_analysis::data::number::count;

const ROW: f64 = 22.0;
/// Room for the sample of a line, and between entries.
const SAMPLE: f64 = 34.0;
const GAP: f64 = 18.0;

/// Entries with their places.
pub(super) struct Legend<'l> {
    entries: Vec<(&'l Band, f64, f64)>,
    /// Lower end of the legend.
    pub(super) bottom: f64,
}

impl<'l> Legend<'l> {
    /// One entry for each name, from `top` on.
    pub(super) fn new(lines: &'l [Band], top: f64, size: Size) -> Self {
        let mut entries: Vec<(&Band, f64, f64)> = Vec::new();
        let (mut x, mut y) = (16.0, top);
        for line in lines {
            if entries.iter().any(|(other, ..)| other.name == line.name) {
                continue;
            }
            let width =
                SAMPLE + size.letter * count(cut(&line.name, LETTERS_MAX).chars().count()) + GAP;
            if x > 16.0 && x + width > size.width {
                (x, y) = (16.0, y + ROW);
            }
            entries.push((line, x, y));
            x += width;
        }
        Self { entries, bottom: y }
    }

    pub(super) fn drawn(&self) -> Markup {
        html! {
            @for (line, x, y) in &self.entries {
                (marks::sample(line.case, line.published, (*x, y - 4.0)))
                text x=(x + SAMPLE) y=(y) { (cut(&line.name, LETTERS_MAX)) }
            }
        }
    }
}
