//! The response-time block: how each request of a benchmark with several went, and for scenarios
//! how its times are spread over the bands that people think in.

use bakeoff_model::histogram::Histogram;
use bakeoff_model::load::RequestInterval;

use super::benchmark::{BenchmarkData, CaseData, StepData};
use crate::number::as_f64;

const MS: u64 = 1_000_000;

/// Ends of the bands of response times, ms: what Gatling's reports made customary.
const BANDS_MS: [u64; 2] = [800, 1_200];

/// Apdex (Apdex Alliance, 2007): up to T a user is satisfied, up to 4 T tolerating.
const APDEX_T_MS: u64 = 1_500;

/// Ratings of Apdex: below this it is called so.
const RATINGS: [(f64, &str); 4] = [
    (0.5, "unacceptable"),
    (0.7, "poor"),
    (0.85, "fair"),
    (0.94, "good"),
];

/// One request, or all of them, in one step of all completed runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestRow {
    /// Contender and parameters.
    pub(crate) label: String,
    pub(crate) step: String,
    /// Name of the request; `all` for all of them.
    pub(crate) request: String,
    pub(crate) requests: u64,
    pub(crate) failures: u64,
    pub(crate) throughput: f64,
    pub(crate) min_ms: Option<f64>,
    pub(crate) max_ms: Option<f64>,
    pub(crate) mean_ms: Option<f64>,
    pub(crate) deviation_ms: Option<f64>,
    /// 50th, 75th, 95th and 99th percentile.
    pub(crate) percentiles_ms: [Option<f64>; 4],
    /// Of all requests of a scenario.
    pub(crate) bands: Option<Bands>,
}

/// How response times feel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Bands {
    /// Successful requests within 800 ms, within 1200 ms, and above.
    pub(crate) counts: [u64; 3],
    /// Apdex with T = 1.5 s; a failure is a frustrated user.
    pub(crate) apdex: f64,
    pub(crate) rating: &'static str,
}

/// Sums over runs.
struct Sums {
    name: String,
    requests: u64,
    failures: u64,
    seconds: f64,
    times: Histogram,
}

/// The block of a benchmark; empty when it has a single request.
pub(crate) fn rows(benchmark: &BenchmarkData<'_>) -> Vec<RequestRow> {
    let mut steps = benchmark
        .cases
        .iter()
        .flat_map(|case| &case.runs)
        .flat_map(|run| &run.steps);
    if !steps.any(|step| step.slices.iter().any(|i| !i.load.by_request.is_empty())) {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for case in &benchmark.cases {
        for label in &benchmark.step_labels {
            let steps = measured(case, label);
            let is_scenario =
                |step: &&StepData<'_>| step.slices.iter().any(|i| i.load.users.is_some());
            let all = all(&steps);
            let bands = steps.iter().any(is_scenario).then(|| bands(&all)).flatten();
            let row = |sums: &Sums, bands| row(&case.label, label, sums, bands);
            rows.extend(row(&all, bands));
            rows.extend(each(&steps).iter().filter_map(|sums| row(sums, None)));
        }
    }
    rows
}

/// This step of all completed runs, unless it is warm-up.
fn measured<'s, 'a>(case: &'s CaseData<'a>, label: &str) -> Vec<&'s StepData<'a>> {
    let steps = case.completed().filter_map(|run| run.step(label));
    steps.filter(|step| !step.warm_up).collect()
}

fn all(steps: &[&StepData<'_>]) -> Sums {
    let mut times = Histogram::new();
    steps
        .iter()
        .flat_map(|step| step.histograms())
        .for_each(|one| times.merge(one));
    Sums {
        name: "all".to_owned(),
        requests: steps.iter().map(|step| step.requests).sum(),
        failures: steps.iter().map(|step| step.error_count()).sum(),
        seconds: steps.iter().map(|step| step.seconds).sum(),
        times,
    }
}

/// One for each request, in the order of the benchmark.
fn each(steps: &[&StepData<'_>]) -> Vec<Sums> {
    let seconds = steps.iter().map(|step| step.seconds).sum();
    let mut all: Vec<Sums> = Vec::new();
    for slice in steps.iter().flat_map(|step| &step.slices) {
        for (index, part) in slice.load.by_request.iter().enumerate() {
            if all.len() <= index {
                all.push(empty(part, seconds));
            }
            let sums = &mut all[index];
            sums.requests += part.requests;
            sums.failures += part.failures;
            sums.times.merge(&part.times);
        }
    }
    all
}

fn empty(part: &RequestInterval, seconds: f64) -> Sums {
    Sums {
        name: part.name.clone(),
        requests: 0,
        failures: 0,
        seconds,
        times: Histogram::new(),
    }
}

/// `None` when the request was never made.
fn row(label: &str, step: &str, sums: &Sums, bands: Option<Bands>) -> Option<RequestRow> {
    (sums.requests + sums.failures > 0).then_some(())?;
    let times = &sums.times;
    let ms = |ns: Option<u64>| ns.map(|ns| as_f64(ns) / 1e6);
    Some(RequestRow {
        label: label.to_owned(),
        step: step.to_owned(),
        request: sums.name.clone(),
        requests: sums.requests,
        failures: sums.failures,
        throughput: as_f64(sums.requests) / sums.seconds.max(1e-9),
        min_ms: ms(times.min_ns()),
        max_ms: ms(times.max_ns()),
        mean_ms: times.mean_ns().map(|ns| ns / 1e6),
        deviation_ms: times.deviation_ns().map(|ns| ns / 1e6),
        percentiles_ms: [0.5, 0.75, 0.95, 0.99].map(|share| ms(times.quantile_ns(share))),
        bands,
    })
}

fn bands(all: &Sums) -> Option<Bands> {
    let total = as_f64(all.requests + all.failures);
    (total > 0.0).then_some(())?;
    let up_to = |ms: u64| all.times.count_between(1, ms * MS);
    let (low, middle) = (up_to(BANDS_MS[0]), up_to(BANDS_MS[1]));
    let satisfied = as_f64(up_to(APDEX_T_MS));
    let tolerating = as_f64(up_to(4 * APDEX_T_MS)) - satisfied;
    let apdex = (satisfied + tolerating / 2.0) / total;
    let rating = RATINGS.iter().find(|(below, _)| apdex < *below);
    Some(Bands {
        counts: [
            low,
            middle.saturating_sub(low),
            all.times.count().saturating_sub(middle),
        ],
        apdex,
        rating: rating.map_or("excellent", |(_, name)| name),
    })
}
