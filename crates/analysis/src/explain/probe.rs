//! The share of one part in the CPU per request, from its cost alone.

use bakeoff_model::load::LoadInterval;
use bakeoff_model::record::ProbeRecord;

use crate::data::benchmark::{BenchmarkData, CaseData, RunData, StepData};
use crate::data::number::{as_f64, count, milliseconds};

/// One part of the work of a case's requests.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareRow {
    /// Contender and parameters.
    pub label: String,
    /// The name of the part.
    pub part: String,
    /// The request that does it.
    pub request: String,
    /// CPU of the part, measured alone, ms.
    pub alone_ms: f64,
    /// CPU of the contender for each successful request of that name in the measured steps, mean
    /// over runs, ms. Includes other work, such as other requests.
    pub request_ms: f64,
}

impl ShareRow {
    /// Returns the share of the part, %.
    pub fn percent(&self) -> f64 {
        self.alone_ms / self.request_ms * 100.0
    }
}

/// Returns the rows of a benchmark, case by case; none if no contender has a probe.
pub fn rows(benchmark: &BenchmarkData<'_>) -> Vec<ShareRow> {
    let mut rows: Vec<ShareRow> = Vec::new();
    for case in &benchmark.cases {
        let probes = case.runs.iter().flat_map(|run| &run.records.probes);
        for row in probes.filter_map(|probe| row(case, probe)) {
            // A contender in several groups has a first run in each.
            let names = |one: &ShareRow| (one.label.clone(), one.part.clone(), one.request.clone());
            if !rows.iter().any(|one| names(one) == names(&row)) {
                rows.push(row);
            }
        }
    }
    rows
}

/// Returns the conclusions: a sentence for each part of each request; empty without any.
pub fn sentences(rows: &[ShareRow]) -> Vec<String> {
    let mut of: Vec<(&str, &str)> = Vec::new();
    for row in rows {
        let one = (row.part.as_str(), row.request.as_str());
        if !of.contains(&one) {
            of.push(one);
        }
    }
    let sentence = |(part, request)| {
        let same = rows
            .iter()
            .filter(|row| (row.part.as_str(), row.request.as_str()) == (part, request));
        let by_share =
            |left: &&ShareRow, right: &&ShareRow| f64::total_cmp(&left.percent(), &right.percent());
        let least = same.clone().min_by(by_share)?;
        let most = same.max_by(by_share)?;
        let range = if least.label == most.label {
            format!("{:.0} % for {}", least.percent(), least.label)
        } else {
            format!(
                "{:.0} % for {} to {:.0} % for {}",
                least.percent(),
                least.label,
                most.percent(),
                most.label
            )
        };
        Some(format!(
            "Of the CPU that a contender spends for each successful {request}, {part} is {range}."
        ))
    };
    of.into_iter().filter_map(sentence).collect()
}

fn row(case: &CaseData<'_>, probe: &ProbeRecord) -> Option<ShareRow> {
    let runs = case.completed();
    let each: Vec<f64> = runs
        .filter_map(|run| cpu_ms_of_request(run, &probe.request))
        .collect();
    (!each.is_empty()).then(|| ShareRow {
        label: case.label.clone(),
        part: probe.name.clone(),
        request: probe.request.clone(),
        alone_ms: milliseconds(probe.cpu_ns) / f64::from(probe.operations.max(1)),
        request_ms: each.iter().sum::<f64>() / count(each.len()),
    })
}

/// Returns the CPU of a run's measured steps for each successful request of a name, ms.
fn cpu_ms_of_request(run: &RunData<'_>, request: &str) -> Option<f64> {
    let cpu_s: Option<f64> = run.measured().map(StepData::cpu_s).sum();
    let slices = run.measured().flat_map(|step| &step.slices);
    let of_slice = |load: &LoadInterval| match load.by_request.as_slice() {
        // A benchmark with a single request does not name it.
        [] => load.requests,
        parts => parts
            .iter()
            .filter(|part| part.name == request)
            .map(|part| part.requests)
            .sum(),
    };
    let requests: u64 = slices.map(|slice| of_slice(&slice.load)).sum();
    let cpu_s = cpu_s.filter(|cpu_s| requests > 0 && *cpu_s > 0.0)?;
    Some(cpu_s * 1e3 / as_f64(requests))
}
