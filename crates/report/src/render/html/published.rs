//! Published results: their claims with our verdicts, and their numbers in a table of their
//! own. Nothing of it is in the ranked tables.

use bakeoff_model::suite::published::{Published, PublishedResult, Source};
use maud::{Markup, html};

use super::table::{self, Heading};
use crate::render::table::{Cell, Column, Table};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::claims::{
    ClaimRow, ClaimVerdict, JudgedClaims, counts, limits_text, none_testable, untestable,
};

const COLUMNS: &[Column<PublishedResult>] = &[
    Column::new("published", |one| Cell::name(&one.name)),
    Column::new("benchmark", |one| Cell::text(&one.benchmark)),
    Column::new("requests/s", |one| {
        Cell::number(one.peak.as_ref().map(|(throughput, _)| *throughput))
    }),
    Column::new("at", |one| match &one.peak {
        Some((_, at)) => Cell::word(at),
        None => Cell::number(None),
    }),
    Column::new("p99 ms at 64", |one| {
        Cell::number(one.p99_ms.get(&64).copied())
    }),
    Column::new("p99 ms at 256", |one| {
        Cell::number(one.p99_ms.get(&256).copied())
    }),
    Column::new("CPU µs/request, whole life", |one| {
        Cell::number(one.cpu_us_whole)
    }),
    Column::new("MiB before load", |one| Cell::number(one.memory_start_mib)),
    Column::new("MiB at the end", |one| Cell::number(one.memory_end_mib)),
    Column::new("start-up s", |one| Cell::number(one.startup_s)),
];

const CLAIM_HEADINGS: [Heading; 4] = [
    ("claim", ""),
    ("verdict", ""),
    ("measured here", ""),
    ("holds when", ""),
];

/// Empty when nothing was published.
pub(super) fn section(analysis: &Analysis<'_>) -> Markup {
    html! {
        @if let Some(published) = &analysis.results.published {
            section id="claims" {
                h2 { "Claims of others" }
                @let judged = JudgedClaims::of(&analysis.claims);
                @if judged.rows.is_empty() && !analysis.claims.is_empty() {
                    details {
                        summary { (none_testable(&analysis.claims)) }
                        (sources(analysis, published))
                        @for (_, rows) in &judged.untestable { (table_of(rows)) }
                        (numbers(&published.results))
                    }
                } @else {
                    (sources(analysis, published))
                    (claims(&analysis.claims, &judged))
                    (numbers(&published.results))
                }
            }
        }
    }
}

fn sources(analysis: &Analysis<'_>, published: &Published) -> Markup {
    html! {
        ul.rounds { @for one in &published.sources { (source(one)) } }
        @if !analysis.limits_note.is_empty() { p { (analysis.limits_note) } }
    }
}

fn numbers(results: &[PublishedResult]) -> Markup {
    html! {
        @if !results.is_empty() {
            h3 { "Published numbers" }
            p.hint {
                "Under the sources’ conditions, not ours: for shapes and ratios, not for the \
                 numbers. In the charts above they are dashed and end in “published”."
            }
            (table::of("", &Table::of(COLUMNS, results)))
        }
    }
}

fn source(one: &Source) -> Markup {
    html! {
        li {
            (one.author) ": “" (one.title) "”, " (one.date) ". "
            span.detail { (limits_text(&one.limits)) ". " (one.conditions) }
        }
    }
}

fn claims(all: &[ClaimRow], judged: &JudgedClaims<'_>) -> Markup {
    html! {
        @if !all.is_empty() {
            @for sentence in counts(all) { p { (sentence) } }
            p.hint {
                "Reproduced: the whole 95 % interval of what we measured lies within the claim's \
                 bounds, or it holds the claimed size, reaches at most 25 % from it and does not \
                 hold “no effect”; if it reaches further, only the direction is reproduced; \
                 smaller or larger: the effect is significant, of another size; not reproduced: \
                 the whole interval lies elsewhere; undecided: it allows both, or folders \
                 disagree. Compared are runs of one session only. “Ours” is about replacements of \
                 the source’s systems, and does not answer the source."
            }
            (table_of(&judged.rows))
            @for (source, rows) in &judged.untestable {
                details { summary { (untestable(source, rows)) } (table_of(rows)) }
            }
        }
    }
}

fn table_of(rows: &[&ClaimRow]) -> Markup {
    table::framed(
        "texts claims",
        &html! {
            (table::head(&CLAIM_HEADINGS))
            tbody { @for row in rows { (claim(row)) } }
        },
    )
}

fn claim(row: &ClaimRow) -> Markup {
    let class = match row.verdict {
        ClaimVerdict::Reproduced => "good",
        ClaimVerdict::Direction | ClaimVerdict::Smaller | ClaimVerdict::Larger => "undecided",
        ClaimVerdict::NotReproduced => "bad",
        ClaimVerdict::Undecided => "undecided",
        ClaimVerdict::NotTestable => "none",
    };
    html! {
        tr {
            th scope="row" {
                (row.text)
                @if !row.quote.is_empty() { small.note { "“" (row.quote) "”" } }
                small.note {
                    (row.source)
                    @if !row.derived.is_empty() { "; our own arithmetic: " (row.derived) }
                }
            }
            td class=(class) {
                b { (row.verdict_text()) }
                @if !row.why.is_empty() { small.note { (row.why) } }
            }
            td {
                @if row.found.is_empty() { "–" }
                @for (place, found) in row.found.iter().enumerate() {
                    @if place > 0 { br; }
                    (found.measured)
                    @if !found.folder.is_empty() {
                        " " small {
                            "in " a href={ "../" (found.folder) "/report/index.html" } {
                                (found.folder)
                            }
                        }
                    }
                }
            }
            td { (row.expected) }
        }
    }
}
