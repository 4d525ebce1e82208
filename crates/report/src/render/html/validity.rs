//! The verdict on every time slice of a benchmark with its evidence, folded by run.

use std::collections::BTreeMap;

use bakeoff_model::record::IntervalRecord;
use maud::{Markup, html};

use super::table::{self, Heading};
use crate::analysis::benchmark::{BenchmarkData, RunData, StepData};
use crate::analysis::validity::{is_fair, severity};
use crate::number::{significant, significant_or_dash};

const HEADINGS: [Heading; 8] = [
    ("step", ""),
    ("slices", ""),
    ("connections open", ""),
    ("contender cores", ""),
    ("generator cores", ""),
    ("backend cores", ""),
    ("throttled s", ""),
    ("verdict", ""),
];

pub(super) fn tables(benchmark: &BenchmarkData<'_>) -> Markup {
    html! {
        @for case in &benchmark.cases {
            @for run in case.runs.iter().filter(|run| !run.steps.is_empty()) {
                details {
                    summary {
                        b { (case.label) } " run " (run.repetition()) ": " (counts(run))
                    }
                    (table::framed("", &html! {
                        (table::head(&HEADINGS))
                        tbody { @for step in &run.steps { (line(run, step)) } }
                    }))
                }
            }
        }
    }
}

/// `80 fair, 16 host-bound`.
fn counts(run: &RunData<'_>) -> String {
    let mut counts: BTreeMap<u8, (&str, usize)> = BTreeMap::new();
    for slice in &run.records.intervals {
        let count = counts.entry(severity(&slice.validity));
        count.or_insert((slice.validity.name(), 0)).1 += 1;
    }
    let parts: Vec<String> = counts
        .values()
        .map(|(name, count)| format!("{count} {name}"))
        .collect();
    parts.join(", ")
}

fn line(run: &RunData<'_>, step: &StepData<'_>) -> Markup {
    let open = step
        .slices
        .iter()
        .map(|slice| slice.load.connections.established);
    let (low, high) = (open.clone().min().unwrap_or(0), open.max().unwrap_or(0));
    let cores = step.cpu_s().filter(|_| step.seconds > 0.0);
    let unlimited = run.records.begin.enforcement.unlimited_because().is_some();
    html! {
        tr {
            th scope="row" { (step.label) }
            td { (step.slices.len()) }
            td { (low) @if low != high { "–" (high) } " of " (step.connections) }
            td { (significant_or_dash(cores.map(|cpu_s| cpu_s / step.seconds))) }
            td { (significant(step.loader_cores())) }
            td { (significant_or_dash(step.backend_cores())) }
            td { (significant_or_dash(step.throttled_s().filter(|_| !unlimited))) }
            td.text { (verdicts(&step.slices)) }
        }
    }
}

/// Slices with equal verdicts in a row are one line: `3–5: host-bound: evidence`.
fn verdicts(slices: &[&IntervalRecord]) -> Markup {
    html! {
        @if slices.iter().all(|slice| is_fair(&slice.validity)) {
            "fair"
        } @else {
            @for (index, group) in slices.chunk_by(|a, b| a.validity == b.validity).enumerate() {
                @let (first, last) = (group[0].load.slice, group[group.len() - 1].load.slice);
                @let validity = &group[0].validity;
                @if index > 0 { br; }
                (first + 1) @if first != last { "–" (last + 1) } ": " b { (validity.name()) }
                @if !validity.evidence().is_empty() { ": " (validity.evidence()) }
            }
        }
    }
}
