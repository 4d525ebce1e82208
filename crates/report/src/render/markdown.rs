//! The report as Markdown: conclusions, tables and failures, for a pull request or a wiki.

mod capacity;
mod inside;
mod overhead;
mod own_metrics;
mod reasons;
mod requests;

use std::fmt::Write as _;

use bakeoff_model::plan::ChosenCase;
use bakeoff_model::validity::Validity;
use bakeoff_stats::Tie;

use super::turns;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::claims::{Judged, limits_text, none_testable, untestable};
use bakeoff_analysis::comparison::rank_text;
use bakeoff_analysis::failures::{FailedRun, Unranked};
use bakeoff_analysis::metric::Metric;
use bakeoff_analysis::number::{range, significant, significant_or_dash};
use bakeoff_analysis::row::Row;
use bakeoff_analysis::startup::{StartRow, StartupSummary};
use bakeoff_analysis::stated::StatedStep;
use bakeoff_analysis::summary::{BenchmarkSummary, RankTable};
use bakeoff_analysis::turns::Sets;

/// The results as GitHub-flavoured Markdown.
#[must_use]
pub fn markdown(analysis: &Analysis<'_>) -> String {
    let mut text = format!("# {}\n", escape(&analysis.title));
    for warning in &analysis.warnings {
        let _ = write!(text, "\n> **Note:** {}\n", escape(warning));
    }
    let decision = analysis.runs_decision();
    if !decision.is_empty() {
        let _ = write!(text, "\n{}\n", escape(&decision.join(" ")));
    }
    push_rounds(&mut text, analysis);
    for load in &analysis.loads {
        push_benchmark(&mut text, &load.summary);
        for scaling in &load.scalings {
            overhead::push_scaling(&mut text, scaling);
        }
        requests::push(&mut text, &load.requests, &load.errors);
        inside::push_cpu_parts(&mut text, &load.cpu_parts);
        inside::push_layers(&mut text, &load.layers);
        inside::push_first_bytes(&mut text, &load.first_bytes);
        inside::push_shares(&mut text, &load.shares);
        inside::push_gc(&mut text, &load.gc);
        inside::push_database(&mut text, &load.database);
        own_metrics::push(&mut text, &load.own_metrics);
    }
    for startup in &analysis.startups {
        push_startup(&mut text, &startup.summary);
    }
    for overhead in &analysis.overheads {
        overhead::push(&mut text, overhead);
    }
    for capacity in &analysis.capacities {
        capacity::push(&mut text, &capacity.summary);
    }
    push_claims(&mut text, analysis);
    for (title, body) in [
        ("Notes", &analysis.results.notes),
        ("Analysis", &analysis.results.analysis),
    ] {
        if let Some(body) = body.as_ref().filter(|body| !body.trim().is_empty()) {
            let _ = write!(text, "\n## {title}\n\n{}\n", body.trim_end());
        }
    }
    text
}

/// Winners of qualification rounds, and who took no part.
fn push_rounds(text: &mut String, analysis: &Analysis<'_>) {
    if !analysis.qualifications.is_empty() {
        text.push_str("\n## Qualification\n\n");
    }
    for one in &analysis.qualifications {
        let winner = one.winner.as_ref().map(ChosenCase::label);
        let winner = winner.map_or_else(|| "no winner".to_owned(), |label| escape(&label));
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
    let skipped = &analysis.results.skipped;
    if !skipped.is_empty() {
        text.push_str("\n## Took no part\n\n");
    }
    for skipped in skipped {
        let _ = writeln!(text, "- {}", escape(skipped));
    }
}

/// Claims of others with their verdicts, where any can be tested.
fn push_claims(text: &mut String, analysis: &Analysis<'_>) {
    if analysis.claims.is_empty() {
        return;
    }
    text.push_str("\n## Claims of others\n\n");
    let judged = Judged::of(&analysis.claims);
    if judged.rows.is_empty() {
        let _ = writeln!(text, "{}", none_testable(analysis.claims.len()));
        return;
    }
    let published = analysis.results.published.iter();
    for source in published.flat_map(|published| &published.sources) {
        let facts = [&source.author, &source.title, &source.date].map(|fact| escape(fact));
        let _ = writeln!(
            text,
            "- {}. {}. {}",
            facts.join(", "),
            limits_text(&source.limits),
            escape(&source.conditions)
        );
    }
    if !analysis.limits_note.is_empty() {
        let _ = writeln!(text, "\n{}", analysis.limits_note);
    }
    text.push_str(
        "\n| claim | holds when | measured here | verdict |\n\
         |---|---|---|---|\n",
    );
    for row in &judged.rows {
        let round = match row.folder.as_str() {
            "" => String::new(),
            folder => format!(" ([{0}]({0}/results.md))", folder),
        };
        let why = match row.why.as_str() {
            "" => String::new(),
            why => format!(": {}", escape(why)),
        };
        let quote = match row.quote.as_str() {
            "" => String::new(),
            quote => format!(": “{}”", escape(quote)),
        };
        let derived = match row.derived.as_str() {
            "" => String::new(),
            derived => format!("; our own arithmetic: {}", escape(derived)),
        };
        let _ = writeln!(
            text,
            "| {}{quote} ({}{derived}) | {} | {}{round} | **{}**{why} |",
            escape(&row.text),
            escape(&row.source),
            escape(&row.expected),
            escape(&row.measured),
            row.verdict.name()
        );
    }
    if !judged.untestable.is_empty() {
        text.push('\n');
    }
    for (source, rows) in &judged.untestable {
        let _ = writeln!(text, "- {}.", escape(&untestable(source, rows)));
    }
}

fn push_benchmark(text: &mut String, benchmark: &BenchmarkSummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&benchmark.name));
    let _ = writeln!(text, "{}", escape(&benchmark.conditions));
    if let Some(control) = &benchmark.control {
        let _ = writeln!(text, "\n{}", escape(&control.sentence()));
    }
    for table in &benchmark.tables {
        push_table(text, table);
        for sentence in benchmark.bound_sentences(table) {
            let _ = writeln!(text, "\n{}", escape(&sentence));
        }
    }
    if let Some(sets) = &benchmark.sets {
        push_sets(text, sets);
    }
    push_rest(text, &benchmark.unranked, &benchmark.failures);
}

fn push_sets(text: &mut String, sets: &Sets) {
    text.push_str("\n### Sets\n\n");
    for sentence in turns::sentences(sets) {
        let _ = writeln!(text, "{sentence}");
    }
    if sets.pairs.is_empty() {
        return;
    }
    let columns = turns::columns(sets).map(|(name, _)| name).join(" | ");
    let _ = writeln!(text, "\n| {columns} |\n|---|---|--:|--:|");
    for pair in &sets.pairs {
        let cells = turns::row(pair).map(|cell| escape(&cell));
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

fn push_rest(text: &mut String, unranked: &[Unranked], failures: &[FailedRun]) {
    if !unranked.is_empty() {
        text.push_str("\n### Not ranked\n\n");
    }
    for unranked in unranked {
        let measured = unranked.row.as_ref().map_or_else(String::new, |row| {
            format!(
                " (measured all the same: {} req/s)",
                significant(row.throughput.mean())
            )
        });
        let (label, reason) = (escape(&unranked.label), escape(&unranked.reason));
        let _ = writeln!(text, "- **{label}**: {reason}{measured}");
    }
    if !failures.is_empty() {
        text.push_str("\n### Failed runs\n\n");
    }
    for failure in failures {
        let _ = writeln!(
            text,
            "- **{}** {}: {}: {}{}",
            escape(&failure.label),
            failure.runs_text(),
            escape(&failure.stage),
            escape(&failure.message),
            escape(&failure.log_text())
        );
    }
}

/// The cold starts of a benchmark, fastest mean first.
fn push_startup(text: &mut String, startup: &StartupSummary) {
    let _ = write!(text, "\n## {}\n\n", escape(&startup.name));
    let _ = writeln!(text, "{}", escape(&startup.conditions));
    if !startup.rows.is_empty() {
        text.push_str("\n### Cold starts\n\n");
        for conclusion in &startup.conclusions {
            let _ = writeln!(text, "- {}", escape(&conclusion.sentence()));
        }
        let rows = startup.rows.iter().map(startup_row).collect();
        push_table_of(text, &START_COLUMNS, rows);
    }
    push_ties(text, startup.rows.iter().map(|row| row.tie));
    push_rest(text, &startup.unranked, &startup.failures);
}

const START_COLUMNS: [Column; 16] = [
    (">", "#"),
    ("<", "contender"),
    (">", "start-up s"),
    ("<", "95 % interval"),
    (">", "shortest"),
    (">", "median"),
    (">", "90 %"),
    (">", "longest"),
    (">", "create ms"),
    (">", "exec ms"),
    (">", "listen ms"),
    (">", "respond ms"),
    (">", "CPU s"),
    (">", "MiB"),
    (">", "image MiB"),
    (">", "starts"),
];

fn startup_row(row: &StartRow) -> Vec<String> {
    let phases = &row.phases;
    let mut cells = vec![
        rank_text(row.rank, row.tie),
        escape(&row.label),
        significant(row.startup_s.point),
        range(&row.startup_s),
    ];
    cells.extend(row.spread_s.map(significant));
    cells.extend(
        [
            phases.create_ms,
            phases.exec_ms,
            phases.listen_ms,
            phases.respond_ms,
        ]
        .map(significant),
    );
    cells.extend(
        [
            row.cpu_s.map(|cpu| cpu.point),
            row.memory_mib,
            row.image_mib,
        ]
        .map(significant_or_dash),
    );
    cells.push(fraction(row.starts, row.starts_begun));
    cells
}

fn push_table(text: &mut String, table: &RankTable) {
    let _ = write!(text, "\n### {}\n\n", escape(table.title));
    for conclusion in table.conclusions.iter().chain(&table.times) {
        let _ = writeln!(text, "- {}", escape(&conclusion.sentence()));
    }
    if let Some(step) = &table.stated {
        let _ = writeln!(text, "\n{}", escape(&where_measured(table, step)));
    }
    push_table_of(text, &COLUMNS, table.rows.iter().map(table_row).collect());
    push_ties(text, table.rows.iter().map(|row| row.tie));
    if table.has_unfair() {
        let _ = writeln!(text, "\n\\!: {}.", escape(&table.not_fair()));
    }
    reasons::push(text, &table.reasons);
}

/// Which load each column of a table is about.
fn where_measured(table: &RankTable, step: &StatedStep) -> String {
    let at = step.words();
    match table.open_words() {
        Some(open) => format!(
            "Requests/s: each at its own best step. CPU per request and memory: all {at}. p99: all \
             {open}, a dash where a contender did not hold that rate and with fewer than 100 \
             requests beyond it in each set. Errors: over all of these."
        ),
        None => format!(
            "Requests/s: each at its own best step. p99, CPU per request and memory: all {at}, a \
             dash where that step is not valid for the contender. Errors: over all measured steps."
        ),
    }
}

/// Adds the meaning of the signs beside ranks, where there are any.
fn push_ties(text: &mut String, mut ties: impl Iterator<Item = Tie>) {
    if ties.any(|tie| tie != Tie::Alone) {
        text.push_str(
            "\nRank = 1 + number of significantly faster contenders. =: not significantly \
             different from another of the rank. ≈: equivalent to the others, within 3 %.\n",
        );
    }
}

const COLUMNS: [Column; 12] = [
    (">", "#"),
    ("<", "contender"),
    (">", "req/s"),
    ("<", "95 % interval"),
    (">", "best at"),
    (">", "p99 ms"),
    (">", "CPU us/req"),
    (">", "MiB"),
    (">", "start-up s"),
    (">", "errors"),
    (">", "checks"),
    (">", "runs"),
];

fn table_row(row: &Row) -> Vec<String> {
    vec![
        rank_text(row.rank, row.tie),
        escape(&row.label),
        significant(row.throughput.mean()),
        range(&row.throughput.estimate),
        escape(&row.step),
        marked(row.times_validity(), row.p99_ms),
        marked(&row.stated, row.cpu_us.as_ref().map(Metric::mean)),
        marked(&row.stated, row.memory_mib.as_ref().map(Metric::mean)),
        significant_or_dash(row.startup_s.as_ref().map(Metric::mean)),
        row.errors.to_string(),
        fraction(row.checks.good, row.checks.total),
        fraction(row.runs, row.runs_begun),
    ]
}

/// `33/33`; nothing to count is a dash.
fn fraction(good: usize, total: usize) -> String {
    match total {
        0 => "–".to_owned(),
        total => format!("{good}/{total}"),
    }
}

/// A number, marked when what it is read off is not fair.
fn marked(validity: &Validity, value: Option<f64>) -> String {
    let mark = if validity.is_fair() { "" } else { " \\!" };
    significant_or_dash(value) + mark
}

/// Where the cells of a column are aligned, `<` or `>`, and its title.
type Column = (&'static str, &'static str);

/// A table without the columns in which no row has anything; nothing without rows.
fn push_table_of(text: &mut String, columns: &[Column], rows: Vec<Vec<String>>) {
    let is_empty = |cell: &str| matches!(cell, "" | "–");
    let is_filled = |column: &usize| rows.iter().any(|row| !is_empty(&row[*column]));
    let filled: Vec<usize> = (0..columns.len()).filter(is_filled).collect();
    if filled.is_empty() {
        return;
    }
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    text.push('\n');
    text.push_str(&line(
        filled.iter().map(|column| columns[*column].1).collect(),
    ));
    text.push('|');
    for column in &filled {
        text.push_str(if columns[*column].0 == "<" {
            "---|"
        } else {
            "--:|"
        });
    }
    text.push('\n');
    for row in &rows {
        let cells = filled.iter().map(|column| match row[*column].as_str() {
            "" => "–",
            cell => cell,
        });
        text.push_str(&line(cells.collect()));
    }
}

/// Keeps text from being read as markup, and on one line.
pub(super) fn escape(text: &str) -> String {
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
