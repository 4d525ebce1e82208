//! The chart of capacities.

use crate::chart::curves::axis;
use crate::chart::{Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::benchmarks::capacity::{CapacityRow, CapacitySummary};
use bakeoff_analysis::data::benchmark::BenchmarkData;
use bakeoff_analysis::data::number::count;

/// The capacity of each contender by each objective, with its interval.
pub(crate) fn capacity(benchmark: &BenchmarkData<'_>, summary: &CapacitySummary) -> Chart {
    let has_several = summary.tables.len() > 1;
    let bars: Vec<(String, &CapacityRow)> = summary
        .tables
        .iter()
        .flat_map(|table| table.rows.iter().map(move |row| (table, row)))
        .map(|(table, row)| match has_several {
            true => (format!("{}, {}", row.label, table.objective), row),
            false => (row.label.clone(), row),
        })
        .rev()
        .collect();
    let series = bars.iter().enumerate().filter_map(|(place, (_, row))| {
        let mut point = Point::new(row.rate.point, Some(count(place)));
        point.interval = row.rate.interval.map(|ends| (ends.low, ends.high));
        let mut cases = benchmark.cases.iter();
        Some(Series {
            case: cases.position(|case| case.label == row.label)?,
            name: row.label.clone(),
            run: None,
            published: false,
            points: vec![point],
        })
    });
    Chart {
        id: "capacity",
        title: "Capacity".to_owned(),
        note: "The highest rate that meets the objective, geometric mean over runs with its 95 % \
               interval; with one run the interval of its search.",
        shape: Shape::Estimates,
        x: axis("requests/s", Scale::Linear),
        series: series.collect(),
        y: axis(
            "",
            Scale::Categories(bars.into_iter().map(|bar| bar.0).collect()),
        ),
    }
}
