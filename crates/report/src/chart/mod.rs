//! The charts of a benchmark, in reading order. [`svg`] draws them.

pub(crate) mod bands;
mod capacity;
pub(crate) mod curves;
mod data;
mod inside;
pub(crate) mod overhead;
mod parts;
pub(crate) mod published;
pub(crate) mod scaling;
mod starts;
mod steps;
pub(crate) mod svg;
mod turns;

use bakeoff_analysis::data::benchmark::BenchmarkData;
use bakeoff_analysis::{CapacityAnalysis, LoadAnalysis, StartupAnalysis};
use bakeoff_model::suite::conditions::BackendName;
use published::PublishedSeries;

pub(crate) use data::{Axis, Chart, Point, Scale, Series, Shape};

/// All charts of a benchmark that have anything to show, in reading order.
pub(crate) fn of_load(load: &LoadAnalysis<'_>, published: &[PublishedSeries<'_>]) -> Vec<Chart> {
    let (benchmark, summary) = (&load.data, &load.summary);
    let charts = vec![
        curves::peaks(benchmark, summary),
        turns::ratios(benchmark, summary),
        turns::settling(benchmark, summary),
        turns::slices(benchmark),
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
        parts::cpu_by_part(load),
        curves::cumulative(benchmark),
        inside::compiling(benchmark),
        inside::gc_pauses(benchmark),
        inside::heap_after_gc(benchmark),
        inside::database_connections(benchmark),
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

/// All charts of a benchmark of capacities.
pub(crate) fn of_capacity(capacity: &CapacityAnalysis<'_>) -> Vec<Chart> {
    let charts = vec![capacity::capacity(&capacity.data, &capacity.summary)];
    finished(charts, &capacity.data, &[])
}

/// Returns the charts with anything to show, under titles that name the backend.
fn finished(
    mut charts: Vec<Chart>,
    benchmark: &BenchmarkData<'_>,
    published: &[PublishedSeries<'_>],
) -> Vec<Chart> {
    let drawn = |series: &Series| series.points.iter().any(|point| point.y.is_some());
    charts.retain(|chart| chart.series.iter().any(drawn));
    for chart in &mut charts {
        name_backend(chart, &benchmark.backend);
    }
    published::add(&mut charts, published);
    charts
}

/// Adds the backend to the title of a chart, if there is one: the same chart of another backend is
/// another result.
fn name_backend(chart: &mut Chart, backend: &str) {
    if backend != BackendName::None.name() {
        chart.title = format!("{}, backend {backend}", chart.title);
    }
}
