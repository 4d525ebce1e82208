//! The response-time block: results of each request in a benchmark with several, and for scenarios
//! the distribution of its times over the customary bands, with Apdex and its rating.

use bakeoff_model::load::RequestInterval;
use bakeoff_model::load::histogram::Histogram;
use bakeoff_model::record::totals::Totals;

use super::benchmark::{BenchmarkData, CaseData, StepData};
use super::number::as_f64;

const MS: u64 = 1_000_000;

/// Ends of the bands of response times, ms, as in Gatling's reports.
const BANDS_MS: [u64; 2] = [800, 1_200];

/// Apdex (Apdex Alliance, 2007): up to T a user is satisfied, up to 4 T tolerating.
const APDEX_T_MS: u64 = 1_500;

/// Ratings of Apdex: each applies below its value.
const RATINGS: [(f64, &str); 4] = [
    (0.5, "unacceptable"),
    (0.7, "poor"),
    (0.85, "fair"),
    (0.94, "good"),
];

/// The block of one step, over all completed runs of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct RequestRow {
    /// Contender and parameters.
    pub label: String,
    /// The step.
    pub step: String,
    /// Counts and response times.
    pub block: Block,
}

/// The results of one request, or of all together.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// Name of the request; [`ALL`] for all requests.
    pub request: String,
    /// Number of successful requests.
    pub requests: u64,
    /// Requests that failed.
    pub failures: u64,
    /// Duration of the steps, s.
    pub seconds: f64,
    /// Successful requests per second.
    pub throughput: f64,
    /// Response times of successful requests.
    pub times: TimesMs,
    /// Times of failed requests, as far as they are known.
    pub failed_times: TimesMs,
    /// Bands of scenarios in whole runs: turns have no times.
    pub bands: Option<Bands>,
}

impl Block {
    /// Whether the block covers all requests.
    pub fn is_of_all(&self) -> bool {
        self.request == ALL
    }

    /// Whether failed requests have times.
    pub fn has_failed_times(&self) -> bool {
        self.failed_times.max.is_some()
    }
}

/// The times of a block, ms; each `None` if there are none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimesMs {
    /// Shortest.
    pub min: Option<f64>,
    /// Longest.
    pub max: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// Standard deviation.
    pub deviation: Option<f64>,
    /// 50th, 75th, 95th and 99th percentile.
    pub percentiles: [Option<f64>; 4],
}

impl TimesMs {
    /// Reads the times from a histogram.
    pub fn of(times: &Histogram) -> Self {
        let ms = |ns: Option<u64>| ns.map(|ns| as_f64(ns) / 1e6);
        Self {
            min: ms(times.min_ns()),
            max: ms(times.max_ns()),
            mean: times.mean_ns().map(|ns| ns / 1e6),
            deviation: times.deviation_ns().map(|ns| ns / 1e6),
            percentiles: [0.5, 0.75, 0.95, 0.99].map(|share| ms(times.quantile_ns(share))),
        }
    }

    /// Returns all columns of a table: min, max, mean, standard deviation, then the percentiles.
    pub fn all(&self) -> [Option<f64>; 8] {
        let [p50, p75, p95, p99] = self.percentiles;
        let (mean, deviation) = (self.mean, self.deviation);
        [self.min, self.max, mean, deviation, p50, p75, p95, p99]
    }

    /// Returns the columns by which rounds are compared: min, p50, p95, p99, max, mean, standard
    /// deviation.
    pub fn of_round(&self) -> [Option<f64>; 7] {
        let [p50, _, p95, p99] = self.percentiles;
        let (mean, deviation) = (self.mean, self.deviation);
        [self.min, p50, p95, p99, self.max, mean, deviation]
    }
}

/// The name that stands for all requests.
const ALL: &str = "all";

/// The distribution of response times as users experience them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bands {
    /// Successful requests within 800 ms, within 1200 ms, and above.
    pub counts: [u64; 3],
    /// Apdex with T = 1.5 s; a failure is a frustrated user.
    pub apdex: f64,
    /// The rating of the Apdex.
    pub rating: &'static str,
}

/// Sums over runs.
struct Sums {
    name: String,
    requests: u64,
    failures: u64,
    seconds: f64,
    times: Histogram,
    failed_times: Histogram,
}

/// Returns the blocks of a benchmark: step by step, as rounds of users are compared, and in each
/// step case by case. Empty if the benchmark has a single request.
pub fn rows(benchmark: &BenchmarkData<'_>) -> Vec<RequestRow> {
    let mut rows = Vec::new();
    for label in &benchmark.step_labels {
        for case in &benchmark.cases {
            let row = |block| RequestRow {
                label: case.label.clone(),
                step: label.clone(),
                block,
            };
            rows.extend(blocks(&measured(case, label)).into_iter().map(row));
        }
    }
    rows
}

/// Returns the block of all requests together, then of each, over these steps; none if there is
/// only one request.
pub fn blocks(steps: &[&StepData<'_>]) -> Vec<Block> {
    let each = each(steps);
    if each.is_empty() {
        return Vec::new();
    }
    let is_scenario = |step: &&StepData<'_>| step.slices.iter().any(|i| i.load.users.is_some());
    let has_bands = steps.iter().any(is_scenario) && !steps.iter().any(|step| step.is_in_turns());
    let all = std::iter::once(all(steps)).chain(each);
    all.filter_map(|sums| block(sums, has_bands)).collect()
}

/// Returns this step of all completed runs, unless it is warm-up.
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
    let mut failed_times = Histogram::new();
    let slices = steps.iter().flat_map(|step| &step.slices);
    for slice in slices.filter(|slice| slice.load.turns.is_empty()) {
        let classes = slice.load.errors.values();
        classes
            .filter_map(|error| error.times.as_ref())
            .for_each(|one| failed_times.merge(one));
    }
    let totals: Totals = steps.iter().map(|step| &step.totals).sum();
    Sums {
        failed_times,
        name: ALL.to_owned(),
        requests: totals.requests,
        failures: totals.failed(),
        seconds: totals.open_s(),
        times,
    }
}

/// Returns the sums of each request, in the order of the benchmark.
fn each(steps: &[&StepData<'_>]) -> Vec<Sums> {
    let seconds = steps.iter().map(|step| step.totals.open_s()).sum();
    let mut all: Vec<Sums> = Vec::new();
    for slice in steps.iter().flat_map(|step| &step.slices) {
        for (index, part) in slice.load.by_request.iter().enumerate() {
            if all.len() <= index {
                all.push(empty(part, seconds));
            }
            let sums = &mut all[index];
            sums.requests += part.requests;
            sums.failures += part.failures;
            // Response times in turns are those of bursts.
            if slice.load.turns.is_empty() {
                sums.times.merge(&part.times);
                if let Some(failed_times) = &part.failed_times {
                    sums.failed_times.merge(failed_times);
                }
            }
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
        failed_times: Histogram::new(),
    }
}

/// Returns a block; `None` if the request was never made.
fn block(sums: Sums, has_bands: bool) -> Option<Block> {
    (sums.requests + sums.failures > 0).then_some(())?;
    Some(Block {
        requests: sums.requests,
        failures: sums.failures,
        seconds: sums.seconds,
        throughput: as_f64(sums.requests) / sums.seconds.max(1e-9),
        times: TimesMs::of(&sums.times),
        failed_times: TimesMs::of(&sums.failed_times),
        bands: has_bands.then(|| bands(&sums)),
        request: sums.name,
    })
}

/// Returns the Apdex of a step, over all its requests; `None` in turns, and if none was made.
pub fn apdex(step: &StepData<'_>) -> Option<f64> {
    let sums = all(&[step]);
    let has_times = sums.requests + sums.failures > 0 && !step.is_in_turns();
    has_times.then(|| bands(&sums).apdex)
}

/// Returns the bands of requests that were made at least once.
fn bands(all: &Sums) -> Bands {
    let total = as_f64(all.requests + all.failures);
    let up_to = |ms: u64| all.times.count_between(1, ms * MS);
    let (low, middle) = (up_to(BANDS_MS[0]), up_to(BANDS_MS[1]));
    let satisfied = as_f64(up_to(APDEX_T_MS));
    let tolerating = as_f64(up_to(4 * APDEX_T_MS)) - satisfied;
    let apdex = (satisfied + tolerating / 2.0) / total;
    let rating = RATINGS.iter().find(|(below, _)| apdex < *below);
    Bands {
        counts: [
            low,
            middle.saturating_sub(low),
            all.times.count().saturating_sub(middle),
        ],
        apdex,
        rating: rating.map_or("excellent", |(_, name)| name),
    }
}
