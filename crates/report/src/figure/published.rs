//! Published results as series beside ours: dashed, named as published, in no table of ours.

use bakeoff_model::plan::RunKind;
use bakeoff_model::published::{Published, PublishedResult};

use crate::figure::{Figure, Point, Scale, Series};
use crate::labels::step_labels;
use crate::measure::BenchmarkFigures;
use crate::number::count;

/// A published result as the page's legend names it, and the case whose colour it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Guest<'p> {
    pub(crate) name: String,
    /// Index of a case, or beyond them when none of ours is like it.
    pub(crate) case: usize,
    result: &'p PublishedResult,
}

/// The published results that belong to a benchmark.
pub(crate) fn guests<'p>(
    published: Option<&'p Published>,
    benchmark: &BenchmarkFigures<'_>,
) -> Vec<Guest<'p>> {
    let mut strangers = benchmark.cases.len();
    let results = published
        .into_iter()
        .flat_map(|published| &published.results);
    let mut guest = |result: &'p PublishedResult| {
        let like = |label: &str| {
            let rest = label.strip_prefix(result.contender.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '[']))
        };
        let case = benchmark.cases.iter().position(|case| like(&case.label));
        let case = case.unwrap_or_else(|| {
            strangers += 1;
            strangers - 1
        });
        Guest {
            name: format!("{}, published", result.name),
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
        .map(&mut guest)
        .collect()
}

/// Adds what was published to the figures that it has values for.
pub(crate) fn add(figures: &mut [Figure], guests: &[Guest<'_>]) {
    for figure in figures {
        if figure.id == "startup" {
            add_starts(figure, guests);
            continue;
        }
        let Scale::Categories(categories) = &figure.x.scale else {
            continue;
        };
        let categories = categories.clone();
        for guest in guests {
            let values = values(figure.id, guest.result, &categories);
            if values.iter().any(Option::is_some) {
                let points = values
                    .into_iter()
                    .enumerate()
                    .map(|(place, value)| Point::new(count(place), value));
                figure.series.push(Series {
                    case: guest.case,
                    name: guest.name.clone(),
                    run: None,
                    published: true,
                    points: points.collect(),
                });
            }
        }
    }
}

/// A published start-up stands in the row of the contender that is like it.
fn add_starts(figure: &mut Figure, guests: &[Guest<'_>]) {
    let Scale::Categories(rows) = &figure.y.scale else {
        return;
    };
    let rows = rows.len();
    for guest in guests.iter().filter(|guest| guest.case < rows) {
        let row = count(rows - 1 - guest.case);
        let points = guest.result.startup_s.map(|s| Point::new(s, Some(row)));
        figure.series.push(Series {
            case: guest.case,
            name: guest.name.clone(),
            run: None,
            published: true,
            points: points.into_iter().collect(),
        });
    }
}

/// A value or a gap for each category of a figure; all gaps where nothing was published.
fn values(id: &str, result: &PublishedResult, categories: &[String]) -> Vec<Option<f64>> {
    let labels = step_labels(&result.steps, 1);
    let of_series = |series: &[f64], label: &String| {
        let place = labels.iter().position(|one| one == label)?;
        series.get(place).copied()
    };
    let last = categories.len().saturating_sub(1);
    let value = |(place, category): (usize, &String)| match id {
        "throughput" if result.throughput.is_empty() => {
            let (throughput, connections) = result.peak?;
            (connections.to_string() == *category).then_some(throughput)
        }
        "throughput" => of_series(&result.throughput, category),
        "cpu-per-request" => of_series(&result.cpu_us, category),
        "p99" => {
            let mut points = result.p99_ms.iter();
            let found = points.find(|(connections, _)| connections.to_string() == *category);
            found.map(|(_, value)| *value)
        }
        "memory" if category == "idle" => result.memory_start_mib,
        "memory" if place == last => result.memory_end_mib,
        _ => None,
    };
    categories.iter().enumerate().map(value).collect()
}
