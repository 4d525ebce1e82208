//! The report as Markdown: the answer, the tables and the failures, for a pull request or a wiki.

use std::fmt::Write as _;

use crate::ReportInput;
use crate::number::{figures, figures_or_dash, range};
use crate::summary::{BenchmarkSummary, RankTable, Row, summary};
use crate::words;

/// The summary as GitHub-flavoured Markdown.
#[must_use]
pub fn markdown(input: &ReportInput<'_>) -> String {
    let summary = summary(input);
    let mut text = format!("# {}\n", escape(&summary.title));
    for warning in &summary.warnings {
        let _ = write!(text, "\n> **Note:** {}\n", escape(warning));
    }
    for benchmark in &summary.benchmarks {
        push_benchmark(&mut text, benchmark);
    }
    for (title, body) in [
        ("Notes", &input.results.notes),
        ("Analysis", &input.results.analysis),
    ] {
        if let Some(body) = body.as_ref().filter(|body| !body.trim().is_empty()) {
            let _ = write!(text, "\n## {title}\n\n{}\n", body.trim_end());
        }
    }
    text
}

fn push_benchmark(text: &mut String, benchmark: &BenchmarkSummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&benchmark.name));
    let _ = writeln!(text, "{}", escape(&benchmark.conditions));
    for table in &benchmark.tables {
        push_table(text, table);
    }
    if !benchmark.unranked.is_empty() {
        text.push_str("\n### Not ranked\n\n");
    }
    for unranked in &benchmark.unranked {
        let figures = unranked.row.as_ref().map_or_else(String::new, |row| {
            format!(
                " (measured all the same: {} req/s)",
                figures(row.throughput.point)
            )
        });
        let (label, reason) = (escape(&unranked.label), escape(&unranked.reason));
        let _ = writeln!(text, "- **{label}**: {reason}{figures}");
    }
    if !benchmark.failures.is_empty() {
        text.push_str("\n### Failed runs\n\n");
    }
    for failure in &benchmark.failures {
        let _ = writeln!(
            text,
            "- **{}** {}: {}: {}",
            escape(&failure.label),
            failure.runs_words(),
            escape(&failure.stage),
            escape(&failure.message)
        );
    }
}

fn push_table(text: &mut String, table: &RankTable) {
    let _ = write!(text, "\n### {}\n\n", escape(&table.title));
    for sentence in words::answers(table) {
        let _ = writeln!(text, "- {}", escape(&sentence.plain()));
    }
    text.push_str(
        "\n| # | contender | req/s | 95 % interval | at | p99 ms | CPU us/req | max MiB | \
         start-up s | errors | checks | runs |\n\
         |--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for row in &table.rows {
        text.push_str(&table_row(row));
    }
}

fn table_row(row: &Row) -> String {
    let interval = match range(&row.throughput) {
        range if range.is_empty() => "–".to_owned(),
        range => range,
    };
    let cells = [
        format!("{}{}", row.rank, if row.tied { "=" } else { "" }),
        escape(&row.label),
        figures(row.throughput.point),
        interval,
        escape(&row.step),
        figures_or_dash(row.p99_ms),
        figures_or_dash(row.cpu_us.map(|cpu| cpu.point)),
        figures_or_dash(row.memory_mib),
        figures_or_dash(row.startup_s.map(|startup| startup.point)),
        row.errors.to_string(),
        format!("{}/{}", row.checks.good, row.checks.total),
        format!("{}/{}", row.runs, row.runs_begun),
    ];
    format!("| {} |\n", cells.join(" | "))
}

/// Keeps text from being read as markup, and on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\r' => escaped.push(' '),
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
