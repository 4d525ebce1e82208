//! Charts as data: what is drawn, not how. [`option`] makes the chart library's options of them.
//!
//! A chart never averages: each run is a series of its own, and runs of one contender share its
//! colour. A step that a run did not reach is a gap.

pub(crate) mod curves;
pub(crate) mod option;
pub(crate) mod published;
mod starts;
mod steps;

use crate::analysis::benchmark::BenchmarkData;
use crate::analysis::{LoadAnalysis, StartupAnalysis};
use published::PublishedSeries;

/// One chart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// Unique in its benchmark, usable in an address.
    pub(crate) id: &'static str,
    pub(crate) title: String,
    /// How to read it, in a sentence or two.
    pub(crate) note: &'static str,
    pub(crate) shape: Shape,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
}

/// How the points of a series are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    Lines,
    /// Points in rows, one row for each case.
    Dots,
    /// One estimate for each case, with its interval.
    Estimates,
}

/// An axis with its unit in the name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub(crate) name: String,
    pub(crate) scale: Scale,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Scale {
    Linear,
    /// Powers of ten.
    Log,
    /// `1 / (1 - quantile)` on powers of ten, written as percentiles.
    Quantile,
    Categories(Vec<String>),
}

/// What one run of one case contributes, or one case when runs are merged.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Index of the case in the benchmark: its colour.
    pub(crate) case: usize,
    /// Contender and parameters.
    pub(crate) name: String,
    /// Repetition; `None` when runs are merged.
    pub(crate) run: Option<u32>,
    /// Not ours, but published by others.
    pub(crate) published: bool,
    pub(crate) points: Vec<Point>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    /// Value, or index of the category.
    pub(crate) x: f64,
    /// `None` is a gap.
    pub(crate) y: Option<f64>,
    /// Ends of the interval, where there is one.
    pub(crate) interval: Option<(f64, f64)>,
    /// Whether the number is fair; others are drawn hollow.
    pub(crate) fair: bool,
    /// Text of the tooltip beside the numbers.
    pub(crate) label: Option<String>,
}

impl Point {
    pub(crate) fn new(x: f64, y: Option<f64>) -> Self {
        let y = y.filter(|y| y.is_finite());
        Self {
            x,
            y,
            interval: None,
            fair: true,
            label: None,
        }
    }
}

/// All charts of a benchmark that have anything to show, in reading order.
pub(crate) fn of_load(load: &LoadAnalysis<'_>, published: &[PublishedSeries<'_>]) -> Vec<Chart> {
    let (benchmark, summary) = (&load.data, &load.summary);
    let charts = vec![
        curves::peaks(benchmark, summary),
        steps::throughput(benchmark),
        curves::throughput_latency(benchmark),
        steps::percentile(benchmark, steps::Percentile::P50),
        steps::percentile(benchmark, steps::Percentile::P90),
        steps::percentile(benchmark, steps::Percentile::P99),
        curves::distribution(benchmark, summary),
        steps::errors(benchmark),
        starts::startup(benchmark),
        curves::warm_up(benchmark),
        steps::memory(benchmark),
        steps::memory_per_throughput(benchmark),
        steps::cpu(benchmark),
        steps::cpu_per_request(benchmark),
        curves::cumulative(benchmark),
    ];
    finished(charts, benchmark, published)
}

/// All charts of a benchmark of cold starts.
pub(crate) fn of_startup(
    startup: &StartupAnalysis<'_>,
    published: &[PublishedSeries<'_>],
) -> Vec<Chart> {
    let benchmark = &startup.data;
    let charts = vec![
        starts::startup(benchmark),
        starts::startup_share(benchmark),
        starts::startup_cpu(benchmark),
    ];
    finished(charts, benchmark, published)
}

/// Those with anything to show, under titles that name the backend.
fn finished(
    mut charts: Vec<Chart>,
    benchmark: &BenchmarkData<'_>,
    published: &[PublishedSeries<'_>],
) -> Vec<Chart> {
    let drawn = |series: &Series| series.points.iter().any(|point| point.y.is_some());
    charts.retain(|chart| chart.series.iter().any(drawn));
    for chart in &mut charts {
        // Every title names the backend: the same chart of another backend is another result.
        chart.title = format!("{}, backend {}", chart.title, benchmark.backend);
    }
    published::add(&mut charts, published);
    charts
}
