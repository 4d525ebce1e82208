//! What others published: their claims with our verdicts, and their numbers in a table of their
//! own. Nothing of it is in the ranked tables.

use bakeoff_model::published::{PublishedResult, Source};
use maud::{Markup, html};

use super::table::{self, Heading};
use crate::analysis::Analysis;
use crate::analysis::claims::{ClaimRow, ClaimVerdict, limits_text};
use crate::number::{significant, significant_or_dash};

const HEADINGS: [Heading; 10] = [
    ("published", ""),
    ("benchmark", ""),
    ("requests/s", ""),
    ("at", ""),
    ("p99 ms at 64", ""),
    ("p99 ms at 256", ""),
    ("CPU µs/request, whole life", ""),
    ("MiB before load", ""),
    ("MiB at the end", ""),
    ("start-up s", ""),
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
                ul.rounds { @for one in &published.sources { (source(one)) } }
                @if !analysis.limits_note.is_empty() { p { (analysis.limits_note) } }
                (claims(&analysis.claims))
                @if !published.results.is_empty() {
                    h3 { "Published numbers" }
                    p.hint {
                        "Under the sources’ conditions, not ours: for shapes and ratios, not for \
                         the numbers. In the charts above they are dashed and end in “published”."
                    }
                    (table::framed("", &html! {
                        (table::head(&HEADINGS))
                        tbody { @for one in &published.results { (result(one)) } }
                    }))
                }
            }
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

fn claims(rows: &[ClaimRow]) -> Markup {
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let verdicts = ClaimVerdict::ALL.into_iter();
    let counts: Vec<String> = verdicts
        .map(|verdict| format!("{} {}", count(verdict), verdict.name()))
        .collect();
    html! {
        @if !rows.is_empty() {
            p { (counts.join(", ")) "." }
            p.hint {
                "Reproduced: the whole 95 % interval of what we measured lies within the claim's \
                 bounds, or it holds the claimed size and not “no effect”; smaller or larger: the \
                 effect is surely there, of another size; not reproduced: the whole interval lies \
                 elsewhere; undecided: it allows both. Compared are runs of one session only."
            }
            (table::framed("texts claims", &html! {
                (table::head(&CLAIM_HEADINGS))
                tbody { @for row in rows { (claim(row)) } }
            }))
        }
    }
}

fn claim(row: &ClaimRow) -> Markup {
    let class = match row.verdict {
        ClaimVerdict::Reproduced => "good",
        ClaimVerdict::Smaller | ClaimVerdict::Larger => "undecided",
        ClaimVerdict::NotReproduced => "bad",
        ClaimVerdict::Undecided => "undecided",
        ClaimVerdict::NotTestable => "none",
    };
    html! {
        tr {
            th scope="row" {
                (row.text)
                small.note {
                    (row.source)
                    @if !row.derived.is_empty() { "; our own arithmetic: " (row.derived) }
                }
            }
            td class=(class) {
                b { (row.verdict.name()) }
                @if !row.why.is_empty() { small.note { (row.why) } }
            }
            td {
                @if row.measured.is_empty() { "–" } @else { (row.measured) }
                @if !row.folder.is_empty() {
                    " " small {
                        "in " a href={ "../" (row.folder) "/report/index.html" } { (row.folder) }
                    }
                }
            }
            td { (row.expected) }
        }
    }
}

fn result(one: &PublishedResult) -> Markup {
    let p99 = |at: u32| significant_or_dash(one.p99_ms.get(&at).copied());
    html! {
        tr {
            th scope="row" { (one.name) }
            td.text { (one.benchmark) }
            @match one.peak {
                Some((throughput, at)) => { td { (significant(throughput)) } td { (at) } }
                None => { td { "–" } td { "–" } }
            }
            td { (p99(64)) }
            td { (p99(256)) }
            td { (significant_or_dash(one.cpu_us_whole)) }
            td { (significant_or_dash(one.memory_start_mib)) }
            td { (significant_or_dash(one.memory_end_mib)) }
            td { (significant_or_dash(one.startup_s)) }
        }
    }
}
