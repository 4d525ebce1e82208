//! Published results as series next to ours: dashed, named as published, in no table of ours.

use bakeoff_model::plan::RunKind;
use bakeoff_model::suite::published::{Published, PublishedResult};

use super::{Chart, Point, Scale, Series};
use bakeoff_analysis::data::benchmark::BenchmarkData;
use bakeoff_analysis::data::labels::step_labels;
use bakeoff_analysis::data::number::count;

/// A published result as the page's legend names it, and the case whose colour it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PublishedSeries<'p> {
    pub(crate) name: String,
    /// Index of a case, or beyond them when none of ours is like it.
    pub(crate) case: usize,
    result: &'p PublishedResult,
}

/// The name of a published result among the lines of a chart.
pub(crate) fn series_name(result: &PublishedResult) -> String {
    format!("{}, published", result.name)
}

/// Whether a case is like a published result: its contender, or a variant of it.
pub(crate) fn is_like(result: &PublishedResult, label: &str) -> bool {
    let rest = label.strip_prefix(result.contender.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
}

/// The published results that belong to a benchmark.
pub(crate) fn of_benchmark<'p>(
    published: Option<&'p Published>,
    benchmark: &BenchmarkData<'_>,
) -> Vec<PublishedSeries<'p>> {
    // Colours beyond those of our cases.
    let mut colours = benchmark.cases.len();
    let results = published
        .into_iter()
        .flat_map(|published| &published.results);
    let mut series = |result: &'p PublishedResult| {
        let mut cases = benchmark.cases.iter();
        let case = cases.position(|case| is_like(result, &case.label));
        let case = case.unwrap_or_else(|| {
            colours += 1;
            colours - 1
        });
        PublishedSeries {
            name: series_name(result),
            case,
            result,
        }
    };
    // Cold starts are a benchmark of ours alone; every published start-up belongs to it.
    let runs = benchmark.cases.iter().flat_map(|case| &case.runs);
    let starts = runs
        .take(1)
        .any(|run| run.records.begin.run.kind == RunKind::Startup);
    results
        .filter(|result| match starts {
            true => result.startup_s.is_some(),
            false => result.benchmark == benchmark.name,
        })
        .map(&mut series)
        .collect()
}

/// Adds what was published to the charts that it has values for.
pub(crate) fn add(charts: &mut [Chart], published: &[PublishedSeries<'_>]) {
    for chart in charts {
        if chart.id == "startup" {
            add_starts(chart, published);
            continue;
        }
        let Scale::Categories(categories) = &chart.x.scale else {
            continue;
        };
        let categories = categories.clone();
        for one in published {
            let values = values(chart.id, one.result, &categories);
            if values.iter().any(Option::is_some) {
                let points = values
                    .into_iter()
                    .enumerate()
                    .map(|(index, value)| Point::new(count(index), value));
                chart.series.push(Series {
                    case: one.case,
                    name: one.name.clone(),
                    run: None,
                    published: true,
                    points: points.collect(),
                });
            }
        }
    }
}

/// A published start-up stands in the row of the contender that is like it.
fn add_starts(chart: &mut Chart, published: &[PublishedSeries<'_>]) {
    let Scale::Categories(rows) = &chart.y.scale else {
        return;
    };
    let rows = rows.len();
    for one in published.iter().filter(|one| one.case < rows) {
        let row = count(rows - 1 - one.case);
        let points = one.result.startup_s.map(|s| Point::new(s, Some(row)));
        chart.series.push(Series {
            case: one.case,
            name: one.name.clone(),
            run: None,
            published: true,
            points: points.into_iter().collect(),
        });
    }
}

/// A value or a gap for each category of a chart; all gaps if nothing was published.
fn values(id: &str, result: &PublishedResult, categories: &[String]) -> Vec<Option<f64>> {
    let steps = by_step(id, result);
    let last = categories.len().saturating_sub(1);
    let value = |(place, category): (usize, &String)| match id {
        "memory" if category == "idle" => result.memory_start_mib,
        "memory" if place == last => result.memory_end_mib,
        _ => {
            let found = steps.iter().find(|(label, _)| label == category);
            found.map(|(_, value)| *value)
        }
    };
    categories.iter().enumerate().map(value).collect()
}

/// The published values of the chart with this id, by the labels of their steps; empty if it has
/// none for steps.
pub(crate) fn by_step(id: &str, result: &PublishedResult) -> Vec<(String, f64)> {
    let series = |values: &[f64]| {
        let labels = step_labels(&result.steps, 1).into_iter();
        labels.zip(values.iter().copied()).collect()
    };
    match (id, result.peak) {
        ("throughput", Some((peak, connections))) if result.throughput.is_empty() => {
            vec![(label(result, connections), peak)]
        }
        ("throughput", _) => series(&result.throughput),
        ("cpu-per-request", _) => series(&result.cpu_us),
        ("p99", _) => {
            let points = result.p99_ms.iter();
            points.map(|(at, ms)| (label(result, *at), *ms)).collect()
        }
        _ => Vec::new(),
    }
}

/// Returns the label of a result's first step with this number of connections.
fn label(result: &PublishedResult, connections: u32) -> String {
    let labels = step_labels(&result.steps, 1).into_iter();
    let mut steps = result.steps.iter().zip(labels);
    let found = steps.find(|(step, _)| !step.warm_up && step.connections == connections);
    found.map_or_else(|| connections.to_string(), |(_, label)| label)
}
