//! Tables in Markdown.

use bakeoff_base::text::printable;

use crate::render::table::{Align, Cell, Table};

/// A table without the columns in which no row has anything; nothing without rows.
pub(super) fn push(text: &mut String, table: &Table) {
    let columns = table.filled(|heading| heading.markdown.is_some());
    if columns.is_empty() {
        return;
    }
    let headings: Vec<_> = columns.iter().map(|one| &table.headings[*one]).collect();
    let titles = headings.iter().filter_map(|one| one.markdown.as_deref());
    text.push('\n');
    push_line(text, titles.map(title));
    text.push('|');
    for heading in &headings {
        text.push_str(match heading.align {
            Align::Left => "---|",
            Align::Right => "--:|",
        });
    }
    text.push('\n');
    for row in &table.rows {
        push_line(text, columns.iter().map(|column| content(&row[*column])));
    }
}

fn title(title: &str) -> String {
    match title {
        // Of ranks; it is not markup inside a table.
        "#" => title.to_owned(),
        words => escape(words),
    }
}

fn push_line(text: &mut String, cells: impl Iterator<Item = String>) {
    text.push('|');
    for cell in cells {
        text.push(' ');
        text.push_str(&cell);
        text.push_str(" |");
    }
    text.push('\n');
}

fn content(cell: &Cell) -> String {
    let mark = match cell.mark() {
        Some(_) => " \\!",
        None => "",
    };
    match escape(&cell.plain()) {
        none if none.is_empty() => "–".to_owned(),
        content => content + mark,
    }
}

/// Keeps text from being read as markup or by a terminal, and on one line.
pub(in crate::render) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars().map(printable) {
        match character {
            '<' => escaped.push_str("&lt;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => {
                escaped.push('\\');
                escaped.push(character);
            }
            other => escaped.push(other),
        }
    }
    escaped
}
