//! Parts of documents below the ranks of a benchmark: what they say and their tables.

mod inside;
mod layers;
mod own_metrics;
mod requests;

use super::table::Table;
use bakeoff_analysis::LoadAnalysis;

/// A part of a document before any document lays it out.
pub(super) struct Section {
    /// The title.
    pub title: &'static str,
    /// Paragraphs and tables of the section, in order.
    pub parts: Vec<SectionItem>,
}

/// A part of a section.
pub(super) enum SectionItem {
    /// A paragraph.
    Note(String),
    /// A table.
    Table(Table),
}

impl Section {
    /// Returns whether any table of it has a row.
    fn has_rows(&self) -> bool {
        self.parts.iter().any(|item| match item {
            SectionItem::Table(table) => !table.rows.is_empty(),
            SectionItem::Note(_) => false,
        })
    }

    /// Returns a section with one table.
    fn of(title: &'static str, note: impl Into<String>, table: Table) -> Self {
        let parts = vec![SectionItem::Note(note.into()), SectionItem::Table(table)];
        Self { title, parts }
    }
}

/// Returns the sections of a benchmark with load, those that have anything.
pub(super) fn of_load(load: &LoadAnalysis<'_>) -> Vec<Section> {
    let mut sections = requests::sections(&load.requests, &load.errors);
    sections.extend(
        [
            inside::cpu_parts(&load.cpu_parts),
            layers::section(&load.layers),
            inside::first_bytes(&load.first_bytes),
            inside::shares(&load.shares),
            inside::gc(&load.gc),
            inside::database(&load.database),
            own_metrics::section(&load.own_metrics),
        ]
        .into_iter()
        .flatten(),
    );
    sections
}
