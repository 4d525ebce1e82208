//! The verdict on every step of a benchmark with its reasons, folded by run.

use std::collections::BTreeMap;

use bakeoff_model::validity::{FairnessVerdict, Validity};
use maud::{Markup, html};

use super::table::{self, Heading};
use bakeoff_analysis::data::benchmark::{BenchmarkData, RunData, StepData};
use bakeoff_analysis::data::number::{significant, significant_or_dash};

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
                    @let cells = run.steps.iter().chain(&run.open)
                        .map(|step| cells(run, step)).collect();
                    (table::filled("", &HEADINGS, cells))
                }
            }
        }
    }
}

/// Steps of each verdict: `14 fair, 2 host-bound`.
fn counts(run: &RunData<'_>) -> String {
    let mut counts: BTreeMap<FairnessVerdict, usize> = BTreeMap::new();
    for step in run.steps.iter().chain(&run.open) {
        *counts.entry(step.validity.verdict()).or_default() += 1;
    }
    let parts: Vec<String> = counts
        .iter()
        .map(|(verdict, count)| format!("{count} {verdict}"))
        .collect();
    parts.join(", ")
}

fn cells(run: &RunData<'_>, step: &StepData<'_>) -> Vec<Markup> {
    let open = step
        .slices
        .iter()
        .map(|slice| slice.load.connections.established);
    let (low, high) = (open.clone().min().unwrap_or(0), open.max().unwrap_or(0));
    let unlimited = run.records.begin.enforcement.unlimited_because().is_some();
    vec![
        html! { th scope="row" { (step.label) } },
        html! { td { (step.slices.len()) } },
        html! { td { (low) @if low != high { "–" (high) } " of " (step.connections) } },
        html! { td { (significant_or_dash(step.contender_cores())) } },
        html! { td { (significant(step.totals.generator_cores())) } },
        html! { td { (significant_or_dash(step.backend_cores())) } },
        html! { td { (significant_or_dash(step.throttled_s().filter(|_| !unlimited))) } },
        html! { td.text { (verdict(&step.validity)) } },
    ]
}

/// The verdict with everything that speaks against the step, and diagnostics.
fn verdict(validity: &Validity) -> Markup {
    html! {
        b { (validity.name()) }
        @for warning in validity.warnings() { br; (warning) }
        @for diagnostic in validity.diagnostics() { br; "diagnostic: " (diagnostic) }
    }
}
