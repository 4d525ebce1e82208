//! The CPU time per request by its parts, all contenders in one chart.

use crate::chart::curves::axis;
use crate::chart::{Chart, Point, Scale, Series, Shape};
use bakeoff_analysis::LoadAnalysis;
use bakeoff_analysis::data::metric::Metric;
use bakeoff_analysis::data::number::count;
use bakeoff_analysis::data::row::Row;
use bakeoff_analysis::explain::layers::Layers;

/// The chart's identifier.
pub(crate) const ID: &str = "cpu-by-part";

/// The parts that have counters.
const COUNTED: [&str; 2] = ["kernel", "outside the kernel"];

/// The layers of stack samples if there are any, otherwise the parts that have counters.
pub(crate) fn cpu_by_part(load: &LoadAnalysis<'_>) -> Chart {
    let layers = &load.layers;
    let (names, note) = match layers.rows.is_empty() {
        true => (
            COUNTED.map(str::to_owned).into(),
            "CPU time of a request in the kernel and outside of it, with 95 % intervals. Further \
             left is better.",
        ),
        false => (
            layers.names.clone(),
            "CPU time of a request by layers, as samples of stacks divide it; the interval is due \
             to their number alone. Further left is better.",
        ),
    };
    let case = |label: &str| load.data.cases.iter().position(|case| case.label == label);
    let mut series: Vec<Series> = load
        .summary
        .rows()
        .filter_map(|row| {
            Some(Series {
                case: case(&row.label)?,
                name: row.label.clone(),
                run: None,
                published: false,
                points: points(row, layers, &names),
            })
        })
        .collect();
    series.retain(|one| !one.points.is_empty());
    series.sort_by_key(|one| one.case);
    Chart {
        id: ID,
        title: "CPU time of a request, by part".to_owned(),
        note,
        shape: Shape::Estimates,
        x: axis("µs", Scale::Linear),
        y: axis("", Scale::Categories(names.into_iter().rev().collect())),
        series,
    }
}

/// The points of a contender, the first part in the highest row.
fn points(row: &Row, layers: &Layers, names: &[String]) -> Vec<Point> {
    let at = |part: usize| Some(count(names.len() - 1 - part));
    let sampled = layers.rows.iter().find(|one| one.label == row.label);
    if let Some(sampled) = sampled {
        let parts = sampled.cpu_us.iter().enumerate();
        let points = parts.filter_map(|(part, cpu)| {
            let (cpu_us, half) = (*cpu)?;
            let mut point = Point::new(cpu_us, at(part));
            point.interval = Some(((cpu_us - half).max(0.0), cpu_us + half));
            Some(point)
        });
        return points.collect();
    }
    if !layers.rows.is_empty() {
        return Vec::new();
    }
    let counted = [&row.stated.kernel_us, &row.stated.user_us];
    let parts = counted.into_iter().enumerate();
    let points = parts.filter_map(|(part, metric): (usize, &Option<Metric>)| {
        let metric = metric.as_ref()?;
        let mut point = Point::new(metric.estimate.point, at(part));
        let ends = |interval: bakeoff_stats::Interval| (interval.low, interval.high);
        point.interval = metric.estimate.interval.map(ends);
        point.fair = metric.validity.is_fair();
        Some(point)
    });
    points.collect()
}
