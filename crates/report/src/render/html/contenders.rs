//! Everything about each contender: what it is, in which version, what it did at each step, and
//! what went wrong.

use bakeoff_base::natural;
use bakeoff_model::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::plan::case_label;
use bakeoff_model::record::{Results, RunRecords};
use maud::{Markup, html};

use super::table::{self, Heading};
use super::{anchor, failures};
use crate::analysis::Analysis;
use crate::analysis::benchmark::last_attempts;
use crate::analysis::load::LoadAnalysis;
use crate::analysis::profile::{self, StepRow};
use crate::number::{counted, significant, significant_or_dash};

const HEADINGS: [Heading; 8] = [
    ("step", "connections, users or a rate"),
    (
        "requests/s",
        "median over completed runs, lowest and highest",
    ),
    ("p50 ms", "all completed runs merged"),
    ("p99 ms", "all completed runs merged"),
    ("CPU µs/request", "median over completed runs"),
    ("MiB", "highest so far, median over completed runs"),
    ("errors", "of all completed runs"),
    ("verdict", "the worst of all completed runs"),
];

/// One folded part for each contender.
pub(super) fn sections(analysis: &Analysis<'_>) -> Markup {
    let mut runs: Vec<&RunRecords> = last_attempts(analysis.results).collect();
    runs.sort_by(|a, b| natural::compare(&a.begin.run.contender, &b.begin.run.contender));
    let mut names: Vec<&str> = runs
        .iter()
        .map(|run| run.begin.run.contender.as_str())
        .collect();
    names.dedup();
    html! {
        @for name in names {
            @let own = runs.iter().filter(|run| run.begin.run.contender == name);
            @let own: Vec<&RunRecords> = own.copied().collect();
            (contender(analysis, name, &own))
        }
    }
}

fn contender(analysis: &Analysis<'_>, name: &str, runs: &[&RunRecords]) -> Markup {
    let first = runs.first().map(|run| &run.begin);
    html! {
        details.contender id=(anchor::contender(name)) {
            summary {
                b { (name) }
                @if let Some(first) = first { " " span.detail { (first.describe) } }
            }
            @if let Some(note) = first.and_then(|first| first.note.as_ref()) { p { (note) } }
            (receipts(runs))
            (flame_graphs(analysis.results, name))
            @for (index, load) in analysis.loads.iter().enumerate() { (cases(load, index, name)) }
        }
    }
}

/// What was measured: different builds of one contender are told apart.
fn receipts(runs: &[&RunRecords]) -> Markup {
    let mut seen: Vec<&RunRecords> = Vec::new();
    for run in runs {
        let is_new = |other: &&RunRecords| {
            let (a, b) = (&other.begin, &run.begin);
            a.version != b.version || a.artifact_digest != b.artifact_digest
        };
        if seen.iter().all(is_new) {
            seen.push(run);
        }
    }
    html! {
        @for run in seen {
            (table::framed("facts", &html! {
                tbody {
                    tr { th scope="row" { "Language" } td { (run.begin.language) } }
                    tr {
                        th scope="row" { "Version receipt" }
                        td.receipt { (run.begin.version.as_deref().unwrap_or("–")) }
                    }
                    tr {
                        th scope="row" { "Artifact" }
                        td.receipt { (run.begin.artifact_digest.as_deref().unwrap_or("–")) }
                    }
                }
            }))
        }
    }
}

fn flame_graphs(results: &Results, name: &str) -> Markup {
    let own = results
        .flame_graphs
        .iter()
        .filter(|one| one.contender == name);
    html! { @for one in own { p { (flame_graph(one)) } } }
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

/// The steps of each case of the contender in a benchmark, and its failed runs.
fn cases(load: &LoadAnalysis<'_>, benchmark: usize, name: &str) -> Markup {
    let cases = load.data.cases.iter().enumerate();
    let own = cases.filter(|(_, case)| {
        let run = case.runs.first();
        run.is_some_and(|run| run.records.begin.run.contender == name)
    });
    html! {
        @for (index, case) in own {
            @let id = (case.label != name && benchmark == 0)
                .then(|| anchor::contender(&case.label));
            h4 id=[id] { (load.data.name) @if case.label != name { ", " (case.label) } }
            @let steps = profile::steps(&load.data, case);
            @if !steps.is_empty() {
                (table::framed("steps", &html! {
                    (table::head(&HEADINGS))
                    tbody {
                        @for step in &steps {
                            (line(step, &anchor::step(benchmark, index, step.index)))
                        }
                    }
                }))
            }
            @let failed = load.summary.failures.iter().filter(|one| one.label == case.label);
            (failures::failed_runs(&failed.cloned().collect::<Vec<_>>()))
        }
    }
}

fn line(step: &StepRow, id: &str) -> Markup {
    html! {
        tr id=(id) {
            th scope="row" { a href={ "#" (id) } { (step.label) } }
            td {
                b { (significant(step.throughput.middle)) }
                @if step.throughput.low < step.throughput.high {
                    " " small {
                        (significant(step.throughput.low)) "–" (significant(step.throughput.high))
                    }
                }
            }
            td { (significant_or_dash(step.p50_ms)) }
            td { (significant_or_dash(step.p99_ms)) }
            td { (significant_or_dash(step.cpu_us)) }
            td { (significant_or_dash(step.memory_mib)) }
            td { (step.errors) }
            td.text { (step.validity.name()) }
        }
    }
}
