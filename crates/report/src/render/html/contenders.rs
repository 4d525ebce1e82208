//! Everything about each contender: what it is, in which version, what it did at each step, and
//! what went wrong.

use bakeoff_base::natural;
use bakeoff_model::measure::flame_graph::{FlameGraph, FlameOutcome};
use bakeoff_model::plan::case_label;
use bakeoff_model::record::{Results, RunRecords};
use maud::{Markup, html};

use super::table::{self, Heading};
use super::{anchor, failures};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::benchmarks::load::LoadAnalysis;
use bakeoff_analysis::data::benchmark::last_attempts;
use bakeoff_analysis::data::number::{counted, significant, significant_or_dash};
use bakeoff_analysis::tables::profile::{self, StepRow};

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

/// Returns the receipts of what was measured, each build of the contender once.
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
                    @if let Some(version) = &run.begin.version {
                        tr { th scope="row" { "Version receipt" } td.receipt { (version) } }
                    }
                    @if let Some(digest) = &run.begin.artifact_digest {
                        tr { th scope="row" { "Artifact" } td.receipt { (digest) } }
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

/// The link to a flame graph, a file next to the report, or why there is none.
fn flame_graph(one: &FlameGraph) -> Markup {
    let case = case_label(&one.contender, &one.parameters);
    let of = format!("{case}, {}", one.benchmark);
    html! {
        @match &one.outcome {
            FlameOutcome::Drawn { file, sampler, samples, difference, .. } => {
                a href={ "../" (file) } { "flame graph of " (of) }
                " at " (counted(one.connections as usize, "connection"))
                ", " (samples) " samples by " (sampler)
                @if let Some(difference) = difference {
                    ", and "
                    a href={ "../" (difference.file) } { "its difference from " (difference.from) }
                }
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
                @let id = |step: &StepRow| anchor::step(benchmark, index, step.index);
                @let cells = steps.iter().map(|step| cells(step, &id(step))).collect();
                (table::filled("steps", &HEADINGS, cells))
            }
            @let failed = load.summary.failures.iter().filter(|one| one.label == case.label);
            (failures::failed_runs(&failed.cloned().collect::<Vec<_>>()))
        }
    }
}

fn cells(step: &StepRow, id: &str) -> Vec<Markup> {
    let (low, high) = (step.throughput.low, step.throughput.high);
    let mut cells = vec![
        html! { th scope="row" id=(id) { a href={ "#" (id) } { (step.label) } } },
        html! {
            td {
                b { (significant(step.throughput.middle)) }
                @if low < high { " " small { (significant(low)) "–" (significant(high)) } }
            }
        },
    ];
    let numbers = [step.p50_ms, step.p99_ms, step.cpu_us, step.memory_mib];
    cells.extend(numbers.map(|number| html! { td { (significant_or_dash(number)) } }));
    cells.push(html! { td { (step.errors) } });
    cells.push(html! { td.text { (step.validity.name()) } });
    cells
}
