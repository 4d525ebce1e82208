//! The ranked table as plain text for a terminal.

mod capacity;
mod overhead;

use std::fmt::Write as _;

use bakeoff_model::validity::Validity;

use super::turns;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::comparison::rank_text;
use bakeoff_analysis::failures::{FailedRun, Unranked};
use bakeoff_analysis::metric::Metric;
use bakeoff_analysis::number::{range, ratio_text, significant, significant_or_dash, spread};
use bakeoff_analysis::reasons::Reasons;
use bakeoff_analysis::row::Row;
use bakeoff_analysis::sessions::Compared;
use bakeoff_analysis::startup::{StartRow, StartupSummary};
use bakeoff_analysis::summary::RankTable;

/// Narrower than this the rank, the name and the throughput are still shown.
const WIDTH_MIN: usize = 40;

/// A column: its title, the width of its cells, and what is in them.
struct Column<R> {
    title: &'static str,
    width: usize,
    cell: fn(&R) -> String,
}

/// The columns after the name, most important first: those that do not fit are left out.
const COLUMNS: [Column<Row>; 9] = [
    Column {
        title: "req/s",
        width: 6,
        cell: |row| significant(row.throughput.mean()),
    },
    Column {
        title: "±95%",
        width: 6,
        cell: |row| spread(&row.throughput.estimate),
    },
    Column {
        title: "conns",
        width: 5,
        cell: |row| row.step.clone(),
    },
    Column {
        title: "p99 ms",
        width: 6,
        cell: |row| marked(row.times_validity(), row.p99_ms),
    },
    Column {
        title: "us/req",
        width: 6,
        cell: |row| marked(&row.stated, row.cpu_us.as_ref().map(Metric::mean)),
    },
    Column {
        title: "MiB",
        width: 5,
        cell: |row| marked(&row.stated, row.memory_mib.as_ref().map(Metric::mean)),
    },
    Column {
        title: "start s",
        width: 7,
        cell: |row| significant_or_dash(row.startup_s.as_ref().map(Metric::mean)),
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

/// The results as text, at most `width` columns wide where words allow. Ends with a line break.
#[must_use]
pub fn terminal_table(analysis: &Analysis<'_>, width: usize) -> String {
    let width = width.max(WIDTH_MIN);
    let mut text = String::new();
    wrap(&mut text, "", &analysis.title, width);
    for warning in &analysis.warnings {
        wrap(&mut text, "warning: ", warning, width);
    }
    for sentence in analysis.runs_decision() {
        wrap(&mut text, "", &sentence, width);
    }
    for load in &analysis.loads {
        let benchmark = &load.summary;
        text.push('\n');
        let title = format!("{}: {}", benchmark.name, benchmark.conditions);
        wrap(&mut text, "", &title, width);
        for table in &benchmark.tables {
            push_table(&mut text, table, width);
            for sentence in benchmark.bound_sentences(table) {
                wrap(&mut text, "", &sentence, width);
            }
        }
        if let Some(control) = &benchmark.control {
            text.push('\n');
            wrap(&mut text, "", &control.sentence(), width);
        }
        if let Some(sets) = &benchmark.sets {
            text.push('\n');
            for sentence in turns::sentences(sets) {
                wrap(&mut text, "", &sentence, width);
            }
        }
        push_rest(&mut text, &benchmark.unranked, &benchmark.failures, width);
    }
    for startup in &analysis.startups {
        let startup = &startup.summary;
        text.push('\n');
        let title = format!("{}: {}", startup.name, startup.conditions);
        wrap(&mut text, "", &title, width);
        push_starts(&mut text, startup, width);
        push_rest(&mut text, &startup.unranked, &startup.failures, width);
    }
    for capacity in &analysis.capacities {
        let summary = &capacity.summary;
        text.push('\n');
        let title = format!("{}: {}", summary.name, summary.conditions);
        wrap(&mut text, "", &title, width);
        capacity::push(&mut text, summary, width);
    }
    for overhead in &analysis.overheads {
        overhead::push(&mut text, overhead, width);
    }
    text
}

/// Columns of cold starts, most important first.
const START_COLUMNS: [Column<StartRow>; 8] = [
    Column {
        title: "start s",
        width: 7,
        cell: |row| significant(row.startup_s.point),
    },
    Column {
        title: "±95%",
        width: 6,
        cell: |row| spread(&row.startup_s),
    },
    Column {
        title: "median",
        width: 7,
        cell: |row| significant(row.spread_s[1]),
    },
    Column {
        title: "max",
        width: 7,
        cell: |row| significant(row.spread_s[3]),
    },
    Column {
        title: "CPU s",
        width: 7,
        cell: |row| significant_or_dash(row.cpu_s.map(|cpu| cpu.point)),
    },
    Column {
        title: "MiB",
        width: 4,
        cell: |row| significant_or_dash(row.memory_mib),
    },
    Column {
        title: "image",
        width: 5,
        cell: |row| significant_or_dash(row.image_mib),
    },
    Column {
        title: "starts",
        width: 6,
        cell: |row| format!("{}/{}", row.starts, row.starts_begun),
    },
];

fn push_starts(text: &mut String, startup: &StartupSummary, width: usize) {
    if startup.rows.is_empty() {
        return;
    }
    text.push('\n');
    wrap(text, "", "Cold starts, fastest mean first", width);
    let key = |row: &StartRow| (rank_text(row.rank, row.tie), row.label.clone());
    push_rows(text, &startup.rows, &START_COLUMNS, key, width);
}

fn push_table(text: &mut String, table: &RankTable, width: usize) {
    text.push('\n');
    wrap(text, "", table.title, width);
    if let Some(step) = &table.stated {
        let at = step.words();
        let words = match table.open_words() {
            Some(open) => format!(
                "us/req and MiB {at}; p99 {open}, the same rate for all; errors over all of these"
            ),
            None => format!("p99, us/req and MiB {at}; errors over all measured steps"),
        };
        wrap(text, "", &words, width);
    }
    let key = |row: &Row| (rank_text(row.rank, row.tie), row.label.clone());
    push_rows(text, &table.rows, &COLUMNS, key, width);
    let cells = |row: &Row| {
        COLUMNS
            .iter()
            .any(|column| (column.cell)(row).ends_with(MARK))
    };
    if table.rows.iter().any(cells) {
        wrap(text, "", &format!("{MARK} {}", table.not_fair()), width);
    }
    for conclusion in &table.times {
        wrap(text, "", &conclusion.sentence(), width);
    }
    // Of the two best; the documents have all.
    if let Some(sentence) = table.reasons_of_two_best().and_then(Reasons::sentence) {
        wrap(text, "", &sentence, width);
    }
    let mut unfair = table.rows.iter().filter(|row| !row.validity().is_fair());
    if let Some(row) = unfair.next() {
        wrap(text, "why: ", &row.validity().to_string(), width);
    }
}

/// Rank, name and as many columns as fit, a line for each row; `key` is rank and name.
fn push_rows<R>(
    text: &mut String,
    rows: &[R],
    columns: &[Column<R>],
    key: impl Fn(&R) -> (String, String),
    width: usize,
) {
    let names = rows.iter().map(|row| key(row).1.chars().count());
    let (columns, name_width) = layout(columns, names.max().unwrap_or(0), width);
    let mut line = format!("{:>3} {:<name_width$}", "", "contender");
    for column in columns {
        let _ = write!(line, " {:>width$}", column.title, width = column.width);
    }
    text.push_str(line.trim_end());
    text.push('\n');
    for row in rows {
        let (rank, label) = key(row);
        let mut line = format!("{rank:>3} {:<name_width$}", shorten(&label, name_width));
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
    for (sign, words) in [
        (
            '=',
            "= not significantly different from another of the rank",
        ),
        ('≈', "≈ equivalent to the others of the rank, within 3 %"),
    ] {
        if rows.iter().any(|row| key(row).0.ends_with(sign)) {
            wrap(text, "", words, width);
        }
    }
}

/// As many columns as fit beside fourteen characters of the name.
fn layout<R>(columns: &[Column<R>], names: usize, width: usize) -> (&[Column<R>], usize) {
    let name_min = names.clamp(9, 14);
    let mut used = 4;
    let mut taken = 0;
    for column in columns {
        if used + name_min + column.width + 1 > width && taken > 0 {
            break;
        }
        used += column.width + 1;
        taken += 1;
    }
    (
        &columns[..taken],
        names.max(9).min(width.saturating_sub(used)).max(9),
    )
}

fn push_rest(text: &mut String, unranked: &[Unranked], failures: &[FailedRun], width: usize) {
    if !unranked.is_empty() {
        text.push_str("\nNot ranked\n");
    }
    for unranked in unranked {
        wrap(
            text,
            &format!("  {}: ", unranked.label),
            &unranked.reason,
            width,
        );
    }
    if !failures.is_empty() {
        text.push_str("\nFailed runs\n");
    }
    for failure in failures {
        let head = format!("  {} {}: ", failure.label, failure.runs_text());
        wrap(
            text,
            &head,
            &format!(
                "{}: {}{}",
                failure.stage,
                failure.message,
                failure.log_text()
            ),
            width,
        );
    }
}

/// A mark on a number that is not fair.
const MARK: char = '!';

/// A number, marked when what it is read off is not fair.
fn marked(validity: &Validity, value: Option<f64>) -> String {
    let mut text = significant_or_dash(value);
    if !validity.is_fair() {
        text.push(MARK);
    }
    text
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
/// of names distinguish variants.
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

/// Replaces control characters, which a contender may have sent or logged and which must not reach
/// the terminal.
fn printable(character: char) -> char {
    if character.is_control() {
        ' '
    } else {
        character
    }
}

/// Words into lines of at most `width`, the first after `head`, the others indented by four.
pub(super) fn wrap(text: &mut String, head: &str, words: &str, width: usize) {
    let clean: String = format!("{head}{words}").chars().map(printable).collect();
    let options = textwrap::Options::new(width)
        .subsequent_indent("    ")
        .break_words(false)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    text.push_str(&textwrap::fill(&clean, options));
    text.push('\n');
}

/// Two sessions compared as text: one line for each metric.
#[must_use]
pub fn terminal_comparison(all: &[Compared]) -> String {
    let width = all
        .iter()
        .map(|one| one.label.chars().count() + one.benchmark.chars().count() + 2)
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for one in all {
        let name = format!("{}: {}", one.benchmark, one.label);
        let ratio = &one.comparison.ratio;
        let interval = match range(ratio) {
            range if range.is_empty() => "no interval".to_owned(),
            range => format!("95 %: {range}"),
        };
        let verdict = match one.comparison.verdict.name() {
            "faster" => "better",
            "slower" => "worse",
            other => other,
        };
        let caveat = match one.caveat.as_str() {
            "" => String::new(),
            caveat => format!(" [{caveat}]"),
        };
        let _ = writeln!(
            text,
            "{name:<width$}  {} -> {} {}  x{} ({interval}) {verdict}{caveat}",
            significant(one.first),
            significant(one.second),
            one.metric,
            ratio_text(ratio.point),
        );
    }
    text
}
