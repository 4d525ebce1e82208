//! Rows for each request, and for each message of failed ones, in each step of each run.

use super::{Line, StepData, decimal, group, lines, outcome, parameters, table};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::requests::{self, Bands, Block, TimesMs};
use bakeoff_analysis::tables::errors::{self, Error};

/// The name of a column and the cell of a row.
type Column<R> = (&'static str, fn(&R) -> String);
type PlaceColumn = (&'static str, fn(&Line<'_, '_>, &StepData<'_>) -> String);

/// The first columns of both files.
const FRONT: [PlaceColumn; 10] = [
    ("suite", |line, _| line.run.records.begin.suite.clone()),
    ("benchmark", |line, _| line.benchmark.name.clone()),
    ("contender", |line, _| {
        line.run.records.begin.run.contender.clone()
    }),
    ("parameters", |line, _| parameters(line)),
    ("repetition", |line, _| line.run.repetition().to_string()),
    ("group", |line, _| group(line)),
    ("outcome", |line, _| outcome(line)),
    ("step", |_, step| step.index.to_string()),
    ("step_label", |_, step| step.label.clone()),
    ("warm_up", |_, step| step.warm_up.to_string()),
];

const OF_REQUEST: [Column<Block>; 5] = [
    ("request", |block| block.request.clone()),
    ("duration_s", |block| decimal(Some(block.seconds))),
    ("ok", |block| block.requests.to_string()),
    ("ko", |block| block.failures.to_string()),
    ("requests_per_s", |block| decimal(Some(block.throughput))),
];

/// All [`TimesMs`], first for successful requests, and at the end for failed ones.
const TIMES: [&str; 8] = [
    "min_ms", "max_ms", "mean_ms", "std_ms", "p50_ms", "p75_ms", "p95_ms", "p99_ms",
];

const OF_BANDS: [Column<Bands>; 5] = [
    ("below_800_ms", |bands| bands.counts[0].to_string()),
    ("from_800_to_1200_ms", |bands| bands.counts[1].to_string()),
    ("above_1200_ms", |bands| bands.counts[2].to_string()),
    ("apdex", |bands| decimal(Some(bands.apdex))),
    ("rating", |bands| bands.rating.to_owned()),
];

const OF_ERROR: [Column<Error>; 4] = [
    ("class", |error| error.class.name().to_owned()),
    ("message", |error| error.message.clone()),
    ("count", |error| error.count.to_string()),
    ("share", |error| decimal(Some(error.share))),
];

/// The response-time block of each step of each run as CSV, warm-up included: a row for each
/// request and one for all. Times of failed requests are empty if none were recorded. The bands,
/// Apdex and rating are of scenarios only. `None` when no benchmark has several requests.
#[must_use]
pub fn requests_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = rows(analysis, |step| {
        let blocks = requests::blocks(&[step]);
        blocks.iter().map(of_request).collect()
    });
    (!rows.is_empty()).then(|| table(header(names_of_request()), rows.into_iter()))
}

/// Failed requests of each step of each run by message as CSV; `None` when nothing failed.
#[must_use]
pub fn errors_csv(analysis: &Analysis<'_>) -> Option<String> {
    let rows = rows(analysis, |step| {
        let errors = errors::errors(&[step]);
        let cells = |error| cells(&OF_ERROR, error).collect();
        errors.iter().map(cells).collect()
    });
    (!rows.is_empty()).then(|| table(header(names(&OF_ERROR).collect()), rows.into_iter()))
}

/// The names of the first columns and of those behind them.
fn header(columns: Vec<String>) -> Vec<String> {
    names(&FRONT).chain(columns).collect()
}

fn names<C>(columns: &[(&str, C)]) -> impl Iterator<Item = String> {
    columns.iter().map(|(name, _)| (*name).to_owned())
}

fn cells<R>(columns: &[Column<R>], row: &R) -> impl Iterator<Item = String> {
    columns.iter().map(|(_, cell)| cell(row))
}

fn rows(
    analysis: &Analysis<'_>,
    of_step: impl Fn(&StepData<'_>) -> Vec<Vec<String>>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for line in analysis.loads.iter().flat_map(|load| lines(&load.data)) {
        for step in &line.run.steps {
            let front = FRONT.map(|(_, cell)| cell(&line, step));
            let of_step = of_step(step).into_iter();
            rows.extend(of_step.map(|cells| front.iter().cloned().chain(cells).collect()));
        }
    }
    rows
}

fn names_of_request() -> Vec<String> {
    let failed = TIMES.map(|name| format!("ko_{name}"));
    let times = TIMES.map(str::to_owned);
    let all = names(&OF_REQUEST).chain(times).chain(names(&OF_BANDS));
    all.chain(failed).collect()
}

fn of_request(block: &Block) -> Vec<String> {
    let of_times = |times: &TimesMs| times.all().map(decimal);
    let bands = OF_BANDS.iter().map(|(_, cell)| {
        let bands = block.bands.as_ref();
        bands.map(cell).unwrap_or_default()
    });
    cells(&OF_REQUEST, block)
        .chain(of_times(&block.times))
        .chain(bands)
        .chain(of_times(&block.failed_times))
        .collect()
}
