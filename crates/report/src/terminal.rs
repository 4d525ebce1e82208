//! The ranked table as plain text for a terminal.

use std::fmt::Write as _;

use crate::number::{figures, figures_or_dash, spread};
use crate::summary::{BenchmarkSummary, RankTable, Row, Summary};

/// Narrower than this the rank, the name and the throughput are still shown.
const WIDTH_MIN: usize = 40;

/// A column: its title, the width of its cells, and what is in them.
struct Column {
    title: &'static str,
    width: usize,
    cell: fn(&Row) -> String,
}

/// The columns after the name, most important first: those that do not fit are left out.
const COLUMNS: [Column; 9] = [
    Column {
        title: "req/s",
        width: 6,
        cell: |row| figures(row.throughput.point),
    },
    Column {
        title: "±95%",
        width: 6,
        cell: |row| spread(&row.throughput),
    },
    Column {
        title: "conns",
        width: 5,
        cell: |row| row.step.clone(),
    },
    Column {
        title: "p99 ms",
        width: 6,
        cell: |row| figures_or_dash(row.p99_ms),
    },
    Column {
        title: "us/req",
        width: 6,
        cell: |row| figures_or_dash(row.cpu_us.map(|cpu| cpu.point)),
    },
    Column {
        title: "MiB",
        width: 4,
        cell: |row| figures_or_dash(row.memory_mib),
    },
    Column {
        title: "start s",
        width: 7,
        cell: |row| figures_or_dash(row.startup_s.map(|startup| startup.point)),
    },
    Column {
        title: "errors",
        width: 6,
        cell: errors,
    },
    Column {
        title: "checks",
        width: 6,
        cell: |row| format!("{}/{}", row.checks.good, row.checks.total),
    },
];

/// The summary as text, at most `width` columns wide where words allow. Ends with a line break.
#[must_use]
pub fn terminal_table(summary: &Summary, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut text = String::new();
    wrap(&mut text, "", &summary.title, width);
    for warning in &summary.warnings {
        wrap(&mut text, "warning: ", warning, width);
    }
    for benchmark in &summary.benchmarks {
        text.push('\n');
        let title = format!("{}: {}", benchmark.name, benchmark.conditions);
        wrap(&mut text, "", &title, width);
        for table in &benchmark.tables {
            push_table(&mut text, table, width);
        }
        push_rest(&mut text, benchmark, width);
    }
    text
}

fn push_table(text: &mut String, table: &RankTable, width: usize) {
    text.push('\n');
    wrap(text, "", &table.title, width);
    let names = table
        .rows
        .iter()
        .map(|row| row.label.chars().count())
        .max()
        .unwrap_or(0);
    let (columns, name_width) = layout(names, width);
    let mut line = format!("{:>3} {:<name_width$}", "", "contender");
    for column in columns {
        let _ = write!(line, " {:>width$}", column.title, width = column.width);
    }
    text.push_str(line.trim_end());
    text.push('\n');
    for row in &table.rows {
        let rank = format!("{}{}", row.rank, if row.tied { "=" } else { "" });
        let mut line = format!("{rank:>3} {:<name_width$}", shorten(&row.label, name_width));
        for column in columns {
            let _ = write!(
                line,
                " {:>width$}",
                (column.cell)(row),
                width = column.width
            );
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if table.rows.iter().any(|row| row.tied) {
        wrap(text, "", "= the runs do not tell these apart", width);
    }
    if let Some(row) = table
        .rows
        .iter()
        .find(|row| !row.validity.evidence().is_empty())
    {
        wrap(text, "why: ", row.validity.evidence(), width);
    }
}

/// As many columns as fit beside fifteen characters of the name.
fn layout(names: usize, width: usize) -> (&'static [Column], usize) {
    let name_min = names.clamp(9, 15);
    let mut used = 4;
    let mut taken = 0;
    for column in &COLUMNS {
        if used + name_min + column.width + 1 > width && taken > 0 {
            break;
        }
        used += column.width + 1;
        taken += 1;
    }
    (
        &COLUMNS[..taken],
        names.max(9).min(width.saturating_sub(used)).max(9),
    )
}

fn push_rest(text: &mut String, benchmark: &BenchmarkSummary, width: usize) {
    if !benchmark.unranked.is_empty() {
        text.push_str("\nNot ranked\n");
    }
    for unranked in &benchmark.unranked {
        wrap(
            text,
            &format!("  {}: ", unranked.label),
            &unranked.reason,
            width,
        );
    }
    if !benchmark.failures.is_empty() {
        text.push_str("\nFailed runs\n");
    }
    for failure in &benchmark.failures {
        let head = format!("  {} {}: ", failure.label, failure.runs_words());
        wrap(
            text,
            &head,
            &format!("{}: {}", failure.stage, failure.message),
            width,
        );
    }
}

fn errors(row: &Row) -> String {
    match row.errors {
        0 => "0".to_owned(),
        _ if row.error_share < 0.000_05 => "<0.01%".to_owned(),
        _ => format!(
            "{:.*}%",
            if row.error_share < 0.1 { 2 } else { 1 },
            row.error_share * 100.0
        ),
    }
}

/// The text without what would break a line or command the terminal, cut in the middle: the ends
/// of names tell variants apart.
fn shorten(text: &str, width: usize) -> String {
    let characters: Vec<char> = text.chars().map(printable).collect();
    if characters.len() <= width {
        return characters.into_iter().collect();
    }
    let tail = (width - 1) / 2;
    let head = width - 1 - tail;
    let start: String = characters[..head].iter().collect();
    let end: String = characters[characters.len() - tail..].iter().collect();
    format!("{start}…{end}")
}

/// What a contender answered or logged may end here: control characters must not reach the
/// terminal.
fn printable(character: char) -> char {
    if character.is_control() {
        ' '
    } else {
        character
    }
}

/// Words into lines of at most `width`, the first after `head`, the others indented by four.
fn wrap(text: &mut String, head: &str, words: &str, width: usize) {
    let clean: String = format!("{head}{words}").chars().map(printable).collect();
    let indent = clean.len() - clean.trim_start().len();
    let mut line = " ".repeat(indent);
    let mut used = indent;
    let mut begun = false;
    for word in clean.split_whitespace() {
        let length = word.chars().count();
        if begun && used + 1 + length > width {
            text.push_str(&line);
            text.push('\n');
            line = " ".repeat(4);
            used = 4;
            begun = false;
        }
        if begun {
            line.push(' ');
            used += 1;
        }
        line.push_str(word);
        used += length;
        begun = true;
    }
    text.push_str(&line);
    text.push('\n');
}
