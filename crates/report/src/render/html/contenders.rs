//! What each contender is, in which version, with its caveat.

use bakeoff_base::natural;
use bakeoff_model::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::plan::case_label;
use bakeoff_model::record::{Results, RunRecords};
use maud::{Markup, html};

use super::table::{self, Heading};
use crate::analysis::benchmark::last_attempts;
use crate::number::counted;

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
            tbody { @for run in runs { (line(run, &results.flame_graphs)) } }
        },
    )
}

fn line(run: &RunRecords, flame_graphs: &[FlameGraph]) -> Markup {
    let begin = &run.begin;
    let flame_graphs = flame_graphs.iter();
    let own = flame_graphs.filter(|one| one.contender == begin.run.contender);
    html! {
        tr {
            th scope="row" { (begin.run.contender) }
            td {
                (begin.describe)
                @if let Some(note) = &begin.note { small.note { (note) } }
                @for one in own { small.note { (flame_graph(one)) } }
            }
            td { (begin.language) }
            td.receipt { (begin.version.as_deref().unwrap_or("–")) }
            td.receipt { (begin.artifact_digest.as_deref().unwrap_or("–")) }
        }
    }
}

/// The way to a flame graph, which lies beside the report, or why there is none.
fn flame_graph(one: &FlameGraph) -> Markup {
    let case = case_label(&one.contender, &one.parameters);
    let of = format!("{case}, {}", one.benchmark);
    html! {
        @match &one.outcome {
            FlameOutcome::Drawn { file, sampler, samples } => {
                a href={ "../" (file) } { "flame graph of " (of) }
                " at " (counted(one.connections as usize, "connection"))
                ", " (samples) " samples by " (sampler)
            }
            FlameOutcome::Failed { why } => { "no flame graph of " (of) ": " (why) }
        }
    }
}
