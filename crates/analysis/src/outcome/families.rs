//! Pairs that are compared: the samples behind the verdicts of each benchmark, for planning the
//! number of runs.

use bakeoff_model::plan::baseline::ConditionMetric;
use bakeoff_stats::Sample;

use crate::Analysis;
use crate::benchmarks::capacity::CapacitySummary;
use crate::data::metric::Metric;
use crate::data::row::Row;
use crate::tables::condition_metrics::metric;
use crate::tables::summary::BenchmarkSummary;

/// Contenders of one benchmark by one metric. All pairs of them are one family of comparisons; in
/// documents, contenders that another part limited are a separate, smaller family.
#[derive(Debug, Clone, PartialEq)]
pub struct Family<'a> {
    /// The benchmark.
    pub benchmark: &'a str,
    /// The metric.
    pub metric: String,
    /// Whether the metric is requests per second of a benchmark with load.
    pub is_throughput: bool,
    /// Label and sample of each contender with a number.
    pub samples: Vec<(&'a str, &'a Sample)>,
}

impl Analysis<'_> {
    /// Returns the label and the sample of each ranked contender of the first benchmark with load
    /// that has this metric.
    #[must_use]
    pub fn samples(&self, figure: ConditionMetric) -> Vec<(&str, Sample)> {
        let Some(load) = self.loads.first() else {
            return Vec::new();
        };
        let cases = load.data.cases.iter();
        let samples = cases.filter_map(|case| {
            let row = load.summary.row(&case.label)?;
            Some((row.label.as_str(), metric(figure, case, row)?.sample))
        });
        samples.collect()
    }

    /// Returns all families with two contenders or more: by requests per second and by CPU per
    /// request for benchmarks with load, and by each objective for capacities.
    #[must_use]
    pub fn families(&self) -> Vec<Family<'_>> {
        let loads = self.loads.iter().flat_map(|load| of_load(&load.summary));
        let capacities = self.capacities.iter();
        let capacities = capacities.flat_map(|capacity| of_capacity(&capacity.summary));
        let all = loads.chain(capacities);
        all.filter(|family| family.samples.len() > 1).collect()
    }
}

fn of_capacity(summary: &CapacitySummary) -> impl Iterator<Item = Family<'_>> {
    summary.tables.iter().map(|table| {
        let samples = table.rows.iter();
        let samples = samples.map(|row| (row.label.as_str(), &row.sample));
        Family {
            benchmark: &summary.name,
            metric: format!("the rate with {}", table.objective),
            is_throughput: false,
            samples: samples.collect(),
        }
    })
}

fn of_load(summary: &BenchmarkSummary) -> [Family<'_>; 2] {
    let family = |name: &str, is_throughput, metric: fn(&Row) -> Option<&Metric>| {
        let rows = summary.tables.iter().flat_map(|table| &table.rows);
        let samples = rows.filter_map(|row| Some((row.label.as_str(), &metric(row)?.sample)));
        Family {
            benchmark: &summary.name,
            metric: name.to_owned(),
            is_throughput,
            samples: samples.collect(),
        }
    };
    [
        family("requests per second", true, |row| {
            Some(&row.peak.throughput)
        }),
        family("CPU per request", false, |row| row.stated.cpu_us.as_ref()),
    ]
}
