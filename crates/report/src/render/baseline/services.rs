//! Head against base for services that keep benchmarks over time: the arrays that
//! `github-action-benchmark` and others take, one for the metrics that are better when higher and
//! one for the rest.
//!
//! Each metric is there twice: the number of the head, which only means something on the host that
//! it was measured on, and head over base, which hosts agree on better.

use bakeoff_model::plan::baseline::ConditionMetric;
use serde_json::{Value, json};

use super::{range, title};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::baseline::{AgainstBase, Change, HeadAndBase};
use bakeoff_analysis::data::number::{change_text, counted, significant, spread};

/// `customBiggerIsBetter`: requests per second; `None` without a baseline.
#[must_use]
pub fn bigger_is_better(analysis: &Analysis<'_>) -> Option<String> {
    entries(analysis, |figure| figure == ConditionMetric::Slower)
}

/// `customSmallerIsBetter`: CPU per request, times, memory; `None` without a baseline.
#[must_use]
pub fn smaller_is_better(analysis: &Analysis<'_>) -> Option<String> {
    entries(analysis, |figure| figure != ConditionMetric::Slower)
}

fn entries(analysis: &Analysis<'_>, wanted: fn(ConditionMetric) -> bool) -> Option<String> {
    let all = analysis.against_base.as_ref()?;
    let mut entries = Vec::new();
    for case in &all.cases {
        for change in case.changes.iter().filter(|one| wanted(one.figure)) {
            entries.push(of_head(all, case, change));
            // JSON has no number for a ratio that there is not.
            let ratio = change.ratio.point.is_finite();
            entries.extend(ratio.then(|| of_ratio(all, case, change)));
        }
    }
    Some(format!("{:#}\n", Value::Array(entries)))
}

fn of_head(all: &AgainstBase, case: &HeadAndBase, change: &Change) -> Value {
    let (name, unit) = name_and_unit(change.figure);
    json!({
        "name": format!("{} / {}: {name}", case.benchmark, case.label),
        "unit": unit,
        "value": change.head.point,
        "range": spread(&change.head),
        "extra": extra(all, change),
    })
}

fn of_ratio(all: &AgainstBase, case: &HeadAndBase, change: &Change) -> Value {
    let (name, _) = name_and_unit(change.figure);
    json!({
        "name": format!("{} / {}: {name}, head over base", case.benchmark, case.label),
        "unit": "ratio",
        "value": change.ratio.point,
        "range": spread(&change.ratio),
        "extra": extra(all, change),
    })
}

fn name_and_unit(figure: ConditionMetric) -> (&'static str, &'static str) {
    match figure {
        ConditionMetric::Slower => ("throughput", "requests/s"),
        ConditionMetric::Cpu => ("CPU per request", "µs"),
        ConditionMetric::Memory => ("memory", "MiB"),
        ConditionMetric::P50 => ("p50", "ms"),
        ConditionMetric::P99 => ("p99", "ms"),
        ConditionMetric::Errors => ("errors", "%"),
    }
}

fn extra(all: &AgainstBase, change: &Change) -> String {
    format!(
        "{}: base {}, head {}, {} % {}\nbase: {}\n{}",
        title(change.figure),
        significant(change.base),
        significant(change.head.point),
        change_text(change.ratio.point),
        range(change),
        all.baseline.describe(),
        counted(change.ratio.runs, "set")
    )
}
