//! Rows for each request, and for each message of failed ones, in each step of each run.

use super::{Line, StepData, decimal, group, lines, outcome, parameters, table};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::errors::{self, Error};
use bakeoff_analysis::requests::{self, Block};

/// The first columns of both files.
const FRONT: [&str; 10] = [
    "suite",
    "benchmark",
    "contender",
    "parameters",
    "repetition",
    "group",
    "outcome",
    "step",
    "step_label",
    "warm_up",
];

const OF_REQUEST: [&str; 26] = [
    "request",
    "duration_s",
    "ok",
    "ko",
    "requests_per_s",
    "min_ms",
    "max_ms",
    "mean_ms",
    "std_ms",
    "p50_ms",
    "p75_ms",
    "p95_ms",
    "p99_ms",
    "below_800_ms",
    "from_800_to_1200_ms",
    "above_1200_ms",
    "apdex",
    "rating",
    "ko_min_ms",
    "ko_max_ms",
    "ko_mean_ms",
    "ko_std_ms",
    "ko_p50_ms",
    "ko_p75_ms",
    "ko_p95_ms",
    "ko_p99_ms",
];

const OF_ERROR: [&str; 4] = ["class", "message", "count", "share"];

/// The response-time block of each step of each run as CSV, warm-up included: a row for each
/// request and one for all. Times of failed requests are empty where none were recorded. The bands,
/// Apdex and rating are of scenarios only. `None` when no benchmark has several requests.
#[must_use]
pub fn requests_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = rows(analysis, |step| {
        let blocks = requests::blocks(&[step]);
        blocks.iter().map(of_request).collect()
    });
    (!rows.is_empty()).then(|| table(header(&OF_REQUEST), rows.into_iter()))
}

/// Failed requests of each step of each run by message as CSV; `None` when nothing failed.
#[must_use]
pub fn errors_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = rows(analysis, |step| {
        let errors = errors::errors(&[step]);
        errors.iter().map(of_error).collect()
    });
    (!rows.is_empty()).then(|| table(header(&OF_ERROR), rows.into_iter()))
}

fn header(columns: &[&str]) -> Vec<String> {
    let all = FRONT.iter().chain(columns);
    all.map(|name| (*name).to_owned()).collect()
}

fn rows(
    analysis: &Analysis<'_>,
    of_step: impl Fn(&StepData<'_>) -> Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for line in analysis.loads.iter().flat_map(|load| lines(&load.data)) {
        for step in &line.run.steps {
            let front = front(&line, step);
            let of_step = of_step(step).into_iter();
            rows.extend(of_step.map(|cells| front.iter().cloned().chain(cells).collect()));
        }
    }
    rows
}

fn front(line: &Line<'_, '_>, step: &StepData<'_>) -> [String; FRONT.len()] {
    let begin = &line.run.records.begin;
    [
        begin.suite.clone(),
        line.benchmark.name.clone(),
        begin.run.contender.clone(),
        parameters(line),
        line.run.repetition().to_string(),
        group(line),
        outcome(line),
        step.index.to_string(),
        step.label.clone(),
        step.warm_up.to_string(),
    ]
}

fn of_request(block: &Block) -> Vec<String> {
    let mut cells = vec![
        block.request.clone(),
        decimal(Some(block.seconds)),
        block.requests.to_string(),
        block.failures.to_string(),
        decimal(Some(block.throughput)),
    ];
    cells.extend(block.times.all().map(decimal));
    match &block.bands {
        Some(bands) => {
            cells.extend(bands.counts.map(|count| count.to_string()));
            cells.extend([decimal(Some(bands.apdex)), bands.rating.to_owned()]);
        }
        None => cells.extend(std::iter::repeat_n(String::new(), 5)),
    }
    cells.extend(block.failed_times.all().map(decimal));
    cells
}

fn of_error(error: &Error) -> Vec<String> {
    vec![
        error.class.name().to_owned(),
        error.message.clone(),
        error.count.to_string(),
        decimal(Some(error.share)),
    ]
}
