//! What each contender is, in which version, with its caveat.

use bakeoff_base::natural;
use bakeoff_model::record::{Results, RunRecords};
use maud::{Markup, html};

use super::table::{self, Heading};
use crate::analysis::benchmark::last_attempts;

const HEADINGS: [Heading; 5] = [
    ("contender", ""),
    ("what it is", ""),
    ("language", ""),
    ("version receipt", ""),
    ("artifact", ""),
];

pub(super) fn table(results: &Results) -> Markup {
    let mut runs: Vec<&RunRecords> = last_attempts(results).collect();
    runs.sort_by(|a, b| natural::compare(&a.begin.run.contender, &b.begin.run.contender));
    runs.dedup_by(|a, b| {
        let (a, b) = (&a.begin, &b.begin);
        a.run.contender == b.run.contender
            && a.version == b.version
            && a.artifact_digest == b.artifact_digest
    });
    table::framed(
        "texts",
        &html! {
            (table::head(&HEADINGS))
            tbody { @for run in runs { (line(run)) } }
        },
    )
}

fn line(run: &RunRecords) -> Markup {
    let begin = &run.begin;
    html! {
        tr {
            th scope="row" { (begin.run.contender) }
            td {
                (begin.describe)
                @if let Some(note) = &begin.note { small.note { (note) } }
            }
            td { (begin.language) }
            td.receipt { (begin.version.as_deref().unwrap_or("–")) }
            td.receipt { (begin.artifact_digest.as_deref().unwrap_or("–")) }
        }
    }
}
