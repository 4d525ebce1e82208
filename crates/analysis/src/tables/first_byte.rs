//! Times to the first byte of responses that arrived in parts, as from a server that streams.

use crate::data::benchmark::{BenchmarkData, CaseData, StepData};
use crate::data::number::count;

/// The times of a case at one step, means over runs or sets, ms.
#[derive(Debug, Clone, PartialEq)]
pub struct FirstByteRow {
    /// The step.
    pub step: String,
    /// Contender and parameters.
    pub label: String,
    /// Median and 99th percentile to the first byte of the body.
    pub first: [f64; 2],
    /// Median and 99th percentile to the end of the response.
    pub end: [f64; 2],
}

/// Returns the rows of a benchmark, step by step; none if every response arrived whole.
pub(crate) fn rows(benchmark: &BenchmarkData<'_>) -> Vec<FirstByteRow> {
    let mut labels: Vec<&str> = Vec::new();
    for step in benchmark.cases.iter().flat_map(steps) {
        if !labels.contains(&step.label.as_str()) {
            labels.push(&step.label);
        }
    }
    let of_label = |label| {
        let cases = benchmark.cases.iter();
        cases.filter_map(move |case| row(case, label))
    };
    labels.into_iter().flat_map(of_label).collect()
}

/// Returns the measured steps in which responses arrived in parts.
fn steps<'d>(case: &'d CaseData<'_>) -> impl Iterator<Item = &'d StepData<'d>> {
    let steps = case.completed().flat_map(|run| run.measured_and_open());
    steps.filter(|step| step.first_byte.is_some())
}

fn row(case: &CaseData<'_>, label: &str) -> Option<FirstByteRow> {
    let of_label = steps(case).filter(|step| step.label == label);
    let times = of_label.filter_map(|step| Some((step.first_byte?, step.service?)));
    let times: Vec<_> = times.collect();
    let mean = |sum: f64| sum / count(times.len());
    (!times.is_empty()).then(|| FirstByteRow {
        step: label.to_owned(),
        label: case.label.clone(),
        first: [
            mean(times.iter().map(|(first, _)| first.p50_ms).sum()),
            mean(times.iter().map(|(first, _)| first.p99_ms).sum()),
        ],
        end: [
            mean(times.iter().map(|(_, end)| end.p50_ms).sum()),
            mean(times.iter().map(|(_, end)| end.p99_ms).sum()),
        ],
    })
}
