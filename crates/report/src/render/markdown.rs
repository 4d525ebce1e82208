//! The report as Markdown: conclusions, tables and failures, for a pull request or a wiki.

mod capacity;
mod overhead;
mod reasons;
mod section;
pub(super) mod table;

use std::fmt::Write as _;

use bakeoff_model::plan::ChosenCase;
use bakeoff_stats::Tie;

use super::section::of_load;
use super::table::{ranks, sets, starts};
use super::turns;
use bakeoff_analysis::Analysis;
use bakeoff_analysis::benchmarks::startup::StartupSummary;
use bakeoff_analysis::claims::{JudgedClaims, limits_text, none_testable, untestable};
use bakeoff_analysis::data::number::significant;
use bakeoff_analysis::tables::failures::{FailedRun, Unranked};
use bakeoff_analysis::tables::summary::{BenchmarkSummary, RankTable};
use bakeoff_analysis::turns::Sets;
use table::escape;

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
        for one in &of_load(load) {
            section::push(&mut text, one);
        }
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

/// Winners of qualification rounds, and contenders that took no part.
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

/// Claims of others with their verdicts, if any can be tested.
fn push_claims(text: &mut String, analysis: &Analysis<'_>) {
    if analysis.claims.is_empty() {
        return;
    }
    text.push_str("\n## Claims of others\n\n");
    let judged = JudgedClaims::of(&analysis.claims);
    if judged.rows.is_empty() {
        let _ = writeln!(text, "{}", none_testable(&analysis.claims));
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
        let found = row.found.iter().map(|found| match found.folder.as_str() {
            "" => escape(&found.measured),
            folder => format!(
                "{} ([{folder}]({folder}/results.md))",
                escape(&found.measured)
            ),
        });
        let found: Vec<String> = found.collect();
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
            "| {}{quote} ({}{derived}) | {} | {} | **{}**{why} |",
            escape(&row.text),
            escape(&row.source),
            escape(&row.expected),
            found.join("; "),
            row.verdict_text()
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
    for control in &benchmark.controls {
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
    table::push(text, &sets::table(sets));
}

fn push_rest(text: &mut String, unranked: &[Unranked], failures: &[FailedRun]) {
    if !unranked.is_empty() {
        text.push_str("\n### Not ranked\n\n");
    }
    for unranked in unranked {
        let measured = unranked.row.as_ref().map_or_else(String::new, |row| {
            format!(
                " (measured all the same: {} req/s)",
                significant(row.peak.throughput.mean())
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
        table::push(text, &starts::table(&startup.rows));
    }
    push_ties(text, startup.rows.iter().map(|row| row.tie));
    push_rest(text, &startup.unranked, &startup.failures);
}

fn push_table(text: &mut String, table: &RankTable) {
    let _ = write!(text, "\n### {}\n\n", escape(table.title));
    for conclusion in table.conclusions.iter().chain(&table.times) {
        let _ = writeln!(text, "- {}", escape(&conclusion.sentence()));
    }
    if let Some(step) = &table.stated {
        let _ = writeln!(
            text,
            "\n{}",
            escape(&ranks::where_measured(step, table.open_words()))
        );
    }
    table::push(text, &ranks::table(&table.rows));
    push_ties(text, table.rows.iter().map(|row| row.standing.tie));
    if table.has_unfair() {
        let _ = writeln!(text, "\n\\!: {}.", escape(&table.not_fair()));
    }
    reasons::push(text, &table.reasons);
}

/// Adds the meaning of the signs next to ranks, if there are any.
fn push_ties(text: &mut String, mut ties: impl Iterator<Item = Tie>) {
    if ties.any(|tie| tie != Tie::Alone) {
        let _ = writeln!(text, "\n{}", escape(ranks::TIES));
    }
}
