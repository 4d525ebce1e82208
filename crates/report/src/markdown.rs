//! The report as Markdown: the answer, the tables and the failures, for a pull request or a wiki.

use std::fmt::Write as _;

use bakeoff_model::plan::ChosenCase;

use crate::ReportInput;
use crate::claims::{claims, limits_differ, limits_words};
use crate::number::{figures, figures_or_dash, range};
use crate::startup::{StartRow, StartupSummary};
use crate::summary::{BenchmarkSummary, FailedRun, RankTable, Row, Unranked, summary};
use crate::words;

/// The summary as GitHub-flavoured Markdown.
#[must_use]
pub fn markdown(input: &ReportInput<'_>) -> String {
    let summary = summary(input);
    let mut text = format!("# {}\n", escape(&summary.title));
    for warning in &summary.warnings {
        let _ = write!(text, "\n> **Note:** {}\n", escape(warning));
    }
    push_rounds(&mut text, input);
    for benchmark in &summary.benchmarks {
        push_benchmark(&mut text, benchmark);
    }
    for startup in &summary.startups {
        push_startup(&mut text, startup);
    }
    push_claims(&mut text, input);
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

/// Winners of qualification rounds, and who took no part.
fn push_rounds(text: &mut String, input: &ReportInput<'_>) {
    let results = input.results;
    if !results.qualifications.is_empty() {
        text.push_str("\n## Qualification\n\n");
    }
    for one in &results.qualifications {
        let winner = one.winner.as_ref().map(ChosenCase::label);
        let winner = winner.map_or_else(|| "nobody".to_owned(), |label| escape(&label));
        let round = match one.folder.as_str() {
            "" => escape(&one.round),
            folder => format!("[{}]({folder}/results.md)", escape(&one.round)),
        };
        let (rule, benchmark) = (escape(&one.rule), escape(&one.benchmark));
        let _ = write!(text, "- {round}: **{winner}** by {rule} on {benchmark}.");
        for reason in &one.reasons {
            let _ = write!(text, " {}", escape(reason));
        }
        text.push('\n');
    }
    if !results.skipped.is_empty() {
        text.push_str("\n## Took no part\n\n");
    }
    for skipped in &results.skipped {
        let _ = writeln!(text, "- {}", escape(skipped));
    }
}

/// Claims of others and what came of them.
fn push_claims(text: &mut String, input: &ReportInput<'_>) {
    let rows = claims(input);
    if rows.is_empty() {
        return;
    }
    text.push_str("\n## Claims of others\n\n");
    let published = input.results.published.iter();
    for source in published.flat_map(|published| &published.sources) {
        let facts = [&source.author, &source.title, &source.date].map(|fact| escape(fact));
        let _ = writeln!(
            text,
            "- {}. {}. {}",
            facts.join(", "),
            limits_words(&source.limits),
            escape(&source.conditions)
        );
    }
    let limits = limits_differ(input);
    if !limits.is_empty() {
        let _ = writeln!(text, "\n{limits}");
    }
    text.push_str(
        "\n| claim | holds when | measured here | verdict |\n\
         |---|---|---|---|\n",
    );
    for row in rows {
        let round = match row.folder.as_str() {
            "" => String::new(),
            folder => format!(" ([{0}]({0}/results.md))", folder),
        };
        let why = match row.why.as_str() {
            "" => String::new(),
            why => format!(": {}", escape(why)),
        };
        let _ = writeln!(
            text,
            "| {} ({}) | {} | {}{round} | **{}**{why} |",
            escape(&row.text),
            escape(&row.source),
            escape(&row.expected),
            escape(&row.measured),
            row.verdict.name()
        );
    }
}

fn push_benchmark(text: &mut String, benchmark: &BenchmarkSummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&benchmark.name));
    let _ = writeln!(text, "{}", escape(&benchmark.conditions));
    for table in &benchmark.tables {
        push_table(text, table);
    }
    push_rest(text, &benchmark.unranked, &benchmark.failures);
}

fn push_rest(text: &mut String, unranked: &[Unranked], failures: &[FailedRun]) {
    if !unranked.is_empty() {
        text.push_str("\n### Not ranked\n\n");
    }
    for unranked in unranked {
        let figures = unranked.row.as_ref().map_or_else(String::new, |row| {
            format!(
                " (measured all the same: {} req/s)",
                figures(row.throughput.point)
            )
        });
        let (label, reason) = (escape(&unranked.label), escape(&unranked.reason));
        let _ = writeln!(text, "- **{label}**: {reason}{figures}");
    }
    if !failures.is_empty() {
        text.push_str("\n### Failed runs\n\n");
    }
    for failure in failures {
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

/// The cold starts of a benchmark, fastest mean first.
fn push_startup(text: &mut String, startup: &StartupSummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&startup.name));
    let _ = writeln!(text, "{}", escape(&startup.conditions));
    if !startup.rows.is_empty() {
        text.push_str("\n### Cold starts\n\n");
        for sentence in words::startup_answers(&startup.rows) {
            let _ = writeln!(text, "- {}", escape(&sentence.plain()));
        }
        text.push_str(
            "\n| # | contender | start-up s | 95 % interval | shortest | median | 90 % | longest | \
             create ms | exec ms | listen ms | answer ms | CPU s | MiB | image MiB | starts |\n\
             |--:|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n",
        );
    }
    for row in &startup.rows {
        text.push_str(&startup_row(row));
    }
    push_rest(text, &startup.unranked, &startup.failures);
}

fn startup_row(row: &StartRow) -> String {
    let interval = match range(&row.startup_s) {
        range if range.is_empty() => "–".to_owned(),
        range => range,
    };
    let phases = &row.phases;
    let mut cells = vec![
        format!("{}{}", row.rank, if row.tied { "=" } else { "" }),
        escape(&row.label),
        figures(row.startup_s.point),
        interval,
    ];
    cells.extend(row.spread_s.map(figures));
    cells.extend(
        [
            phases.create_ms,
            phases.exec_ms,
            phases.listen_ms,
            phases.answer_ms,
        ]
        .map(figures),
    );
    cells.extend(
        [
            row.cpu_s.map(|cpu| cpu.point),
            row.memory_mib,
            row.image_mib,
        ]
        .map(figures_or_dash),
    );
    cells.push(format!("{}/{}", row.starts, row.starts_begun));
    format!("| {} |\n", cells.join(" | "))
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
