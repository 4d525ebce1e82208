//! Panels: charts under a separate legend, and their data for the page's script.

use serde_json::{Value, json};

use crate::chart::published::{self, PublishedSeries};
use crate::chart::svg::Drawing;
use crate::chart::{self, Chart};
use bakeoff_analysis::Analysis;
use bakeoff_analysis::data::benchmark::BenchmarkData;

/// More contenders than this are not read in one chart of lines: the best of them are shown.
const MANY: usize = 12;
/// The number of these.
pub(crate) const BEST: usize = 8;

/// Charts under one legend.
pub(crate) struct Panel<'r> {
    place: PanelSection,
    pub(crate) name: String,
    pub(crate) conditions: String,
    /// The cases that are drawn, each in a separate colour.
    pub(super) cases: Vec<String>,
    /// The kind of these.
    of: &'static str,
    pub(super) published: Vec<PublishedSeries<'r>>,
    pub(crate) charts: Vec<Chart>,
}

impl Panel<'_> {
    /// Whether anything is drawn that others published.
    pub(super) fn has_published(&self) -> bool {
        !self.published.is_empty()
    }

    /// Whether its charts are of several benchmarks.
    pub(crate) fn is_of_all(&self) -> bool {
        self.place == PanelSection::Overhead
    }

    /// The cases with the highest peaks if there are too many; else empty.
    pub(crate) fn best(&self) -> Vec<usize> {
        let peaks = self.charts.iter().find(|chart| chart.id == "peaks");
        let Some(peaks) = peaks.filter(|peaks| peaks.series.len() > MANY) else {
            return Vec::new();
        };
        let highest = peaks.series.iter().rev().take(BEST);
        highest.map(|series| series.case).collect()
    }
}

/// Where on the page a panel stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PanelSection {
    /// In the part of a benchmark, those with load first, then cold starts, then capacities.
    Benchmark,
    /// In the part of the load benchmark with this index, one for each of its parameters.
    Scaling(usize),
    /// In the part about baselines, one for each set of conditions.
    Overhead,
}

/// Everything that is drawn. The index of a panel is its name in the page.
pub(crate) fn of<'r>(analysis: &Analysis<'r>) -> Vec<Panel<'r>> {
    let results = analysis.results.published.as_ref();
    let loads = analysis.loads.iter().map(|load| {
        let published = published::of_benchmark(results, &load.data);
        let charts = chart::of_load(load, &published);
        of_benchmark(&load.data, published, charts)
    });
    let startups = analysis.startups.iter().map(|startup| {
        let published = published::of_benchmark(results, &startup.data);
        let charts = chart::of_startup(startup, &published);
        of_benchmark(&startup.data, published, charts)
    });
    let capacities = analysis.capacities.iter().map(|capacity| {
        let charts = chart::of_capacity(capacity);
        of_benchmark(&capacity.data, Vec::new(), charts)
    });
    let scalings = analysis.loads.iter().enumerate().flat_map(|(index, load)| {
        load.scalings.iter().map(move |scaling| Panel {
            place: PanelSection::Scaling(index),
            name: format!("{} by {}", load.data.name, scaling.parameter),
            conditions: load.data.conditions.clone(),
            cases: scaling
                .lines
                .iter()
                .map(|line| line.label.clone())
                .collect(),
            of: "contender",
            published: Vec::new(),
            charts: chart::scaling::of_scaling(&load.data, scaling),
        })
    });
    let overheads = analysis.overheads.iter().map(|overhead| Panel {
        place: PanelSection::Overhead,
        name: "Percent of the baseline".to_owned(),
        conditions: overhead.conditions.clone(),
        cases: overhead
            .benchmarks()
            .into_iter()
            .map(str::to_owned)
            .collect(),
        of: "benchmark",
        published: Vec::new(),
        charts: chart::overhead::of_overhead(overhead),
    });
    loads
        .chain(startups)
        .chain(capacities)
        .chain(scalings)
        .chain(overheads)
        .collect()
}

fn of_benchmark<'r>(
    benchmark: &BenchmarkData<'r>,
    mut published: Vec<PublishedSeries<'r>>,
    charts: Vec<Chart>,
) -> Panel<'r> {
    // The legend has what is drawn.
    published.retain(|one| {
        let mut series = charts.iter().flat_map(|chart| &chart.series);
        series.any(|series| series.published && series.name == one.name)
    });
    Panel {
        place: PanelSection::Benchmark,
        name: benchmark.name.clone(),
        conditions: benchmark.conditions.clone(),
        cases: benchmark
            .cases
            .iter()
            .map(|case| case.label.clone())
            .collect(),
        of: "contender",
        published,
        charts,
    }
}

/// The panels of a place with their indices.
pub(super) fn at<'p, 'r>(
    panels: &'p [Panel<'r>],
    place: PanelSection,
) -> impl Iterator<Item = (usize, &'p Panel<'r>)> {
    let all = panels.iter().enumerate();
    all.filter(move |(_, panel)| panel.place == place)
}

/// All charts as JSON that can stand inside a script element: `<` would be able to end it.
pub(super) fn data(panels: &[Panel<'_>]) -> String {
    let published = |one: &PublishedSeries<'_>| json!({ "name": one.name, "case": one.case });
    let of_chart = |one: &Chart| Drawing::of_page(one).data();
    let of_panel = |one: &Panel<'_>| -> Value {
        json!({
            "name": one.name,
            "conditions": one.conditions,
            "cases": one.cases,
            "of": one.of,
            "published": one.published.iter().map(published).collect::<Vec<_>>(),
            "charts": one.charts.iter().map(of_chart).collect::<Vec<_>>(),
        })
    };
    let list: Vec<Value> = panels.iter().map(of_panel).collect();
    json!({ "benchmarks": list })
        .to_string()
        .replace('<', "\\u003c")
}
