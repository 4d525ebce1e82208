//! Tables in the terminal.

use std::fmt::Write as _;

use super::wrap::{shorten, wrap};
use crate::render::table::{Cell, Heading, Table};
use bakeoff_analysis::data::number::spread;

/// A mark on a number that is not fair.
pub(super) const MARK: char = '!';

/// Rank, name and the columns that fit, a line for each row.
pub(super) fn push(text: &mut String, table: &Table, width: usize) {
    let names = table.rows.iter().map(|row| key(row).1.chars().count());
    let (columns, name_width) = layout(table, names.max().unwrap_or(0), width);
    let mut line = format!("{:>3} {:<name_width$}", "", "contender");
    for (_, title, width) in &columns {
        let _ = write!(line, " {title:>width$}");
    }
    text.push_str(line.trim_end());
    text.push('\n');
    for row in &table.rows {
        let (rank, label) = key(row);
        let mut line = format!("{rank:>3} {:<name_width$}", shorten(label, name_width));
        for (column, _, width) in &columns {
            let _ = write!(line, " {:>width$}", content(&row[*column]));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    for (sign, words) in [
        (
            '=',
            "= not significantly different from another of the rank",
        ),
        ('≈', "≈ equivalent to the others of the rank, within 3 %"),
    ] {
        if table.rows.iter().any(|row| key(row).0.ends_with(sign)) {
            wrap(text, "", words, width);
        }
    }
}

/// Whether any number of a column that the terminal has is not fair.
pub(super) fn has_mark(table: &Table) -> bool {
    let columns = terminal_columns(table);
    let mut cells = columns.flat_map(|(column, ..)| table.rows.iter().map(move |row| &row[column]));
    cells.any(|cell| cell.mark().is_some())
}

/// The rank and the name of a row.
fn key(row: &[Cell]) -> (&str, &str) {
    let (mut rank, mut name) = ("", "");
    for cell in row {
        match cell {
            Cell::Rank(text) => rank = text,
            Cell::Name(text, _) => name = text,
            _ => {}
        }
    }
    (rank, name)
}

/// The columns by index with titles and widths.
fn terminal_columns(table: &Table) -> impl Iterator<Item = (usize, &'static str, usize)> {
    let headings = table.headings.iter().enumerate();
    headings.filter_map(|(column, heading): (usize, &Heading)| {
        let (title, width) = heading.terminal?;
        Some((column, title, width))
    })
}

/// The columns that fit next to fourteen characters of the name, and the width of that.
fn layout(table: &Table, names: usize, width: usize) -> (Vec<(usize, &'static str, usize)>, usize) {
    let name_min = names.clamp(9, 14);
    let mut used = 4;
    let mut taken = Vec::new();
    for column in terminal_columns(table) {
        let own = column.2 + 1;
        if used + name_min + own > width && !taken.is_empty() {
            break;
        }
        used += own;
        taken.push(column);
    }
    (taken, names.max(9).min(width.saturating_sub(used)).max(9))
}

fn content(cell: &Cell) -> String {
    let mut text = match cell {
        Cell::Interval(estimate) => estimate.as_ref().map_or_else(String::new, spread),
        Cell::Errors(1.., share) => share_of_errors(*share),
        other => other.plain(),
    };
    text.extend(cell.mark().map(|_| MARK));
    text
}

fn share_of_errors(share: f64) -> String {
    match share {
        small if small < 0.000_05 => "<0.01%".to_owned(),
        small if small < 0.1 => format!("{:.2}%", small * 100.0),
        share => format!("{:.1}%", share * 100.0),
    }
}
