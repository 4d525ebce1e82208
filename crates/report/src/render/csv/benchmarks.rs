//! The benchmarks as rows and the contenders side by side: the form in which results are compared
//! by eye in a spreadsheet.

use super::{decimal, table};
use bakeoff_analysis::data::percentiles::Latency;
use bakeoff_analysis::tables::overview::Overview;
use bakeoff_analysis::{Analysis, LoadAnalysis};

/// The title of a column, and which of a contender's times it holds.
type TimeColumn = (&'static str, fn(&Latency) -> f64);

/// The columns of a contender after its throughput.
const OF_CONTENDER: [TimeColumn; 4] = [
    ("p99_ms", |latency| latency.p99_ms),
    ("p95_ms", |latency| latency.p95_ms),
    ("p75_ms", |latency| latency.p75_ms),
    ("p50_ms", |latency| latency.p50_ms),
];

/// A row for each measured step of each benchmark with load, and for each contender throughput
/// (mean over runs) and percentiles (all runs merged) as CSV; empty = no valid number. `None`
/// without any load.
#[must_use]
pub fn benchmarks_csv(analysis: &Analysis<'_>) -> Option<String> {
    let labels = labels(analysis);
    let front = ["benchmark", "step_label", "conditions"].map(str::to_owned);
    let columns = labels.iter().flat_map(|label| {
        let times = OF_CONTENDER.iter().map(|(name, _)| *name);
        let names = std::iter::once("requests_per_s").chain(times);
        names.map(move |name| format!("{label} {name}"))
    });
    let header = front.into_iter().chain(columns).collect();
    let rows = analysis.loads.iter().flat_map(|load| {
        let steps = load.overviews.iter();
        steps.map(|step| row(load, step, &labels))
    });
    (!labels.is_empty()).then(|| table(header, rows))
}

/// All contenders with a number, in the order of the benchmarks.
fn labels<'s>(analysis: &'s Analysis<'_>) -> Vec<&'s str> {
    let mut labels: Vec<&str> = Vec::new();
    let steps = analysis.loads.iter().flat_map(|load| &load.overviews);
    for (label, _) in steps.flat_map(|step| &step.cells) {
        if !labels.contains(&label.as_str()) {
            labels.push(label);
        }
    }
    labels
}

fn row(load: &LoadAnalysis<'_>, step: &Overview, labels: &[&str]) -> Vec<String> {
    let front = [&load.data.name, &step.step.label, &load.data.conditions];
    let mut cells: Vec<String> = front.map(String::clone).to_vec();
    for label in labels {
        let found = step.cells.iter().find(|(other, _)| other == label);
        let found = found.map(|(_, cell)| cell);
        cells.push(decimal(found.map(|cell| cell.throughput)));
        let times = OF_CONTENDER.iter();
        cells.extend(times.map(|(_, time)| {
            let latency = found.and_then(|cell| cell.latency.as_ref());
            decimal(latency.map(time))
        }));
    }
    cells
}
